// Command apiserver is kube-apiserver as upstream builds it, and beneath it, in the same
// process, an etcd on loopback: ETCD_DIR is its folder, ETCD_CLIENT and
// ETCD_PEER are its URLs.
package main

import (
	"fmt"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if err := startEtcd(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}

func startEtcd() error {
	client, err := url.Parse(os.Getenv("ETCD_CLIENT"))
	if err != nil {
		return err
	}
	peer, err := url.Parse(os.Getenv("ETCD_PEER"))
	if err != nil {
		return err
	}
	c := embed.NewConfig()
	c.Dir = os.Getenv("ETCD_DIR")
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.LogLevel, c.UnsafeNoFsync = "error", true
	c.TickMs, c.ElectionMs = 10, 100
	e, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	<-e.Server.ReadyNotify()
	return nil
}
