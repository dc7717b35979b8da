package attach

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Client has what a program needs to connect to a Server. Certificates and keys are PEM.
type Client struct {
	URL                         string
	Authority, Certificate, Key []byte
}

// WriteKubeconfig writes a kubeconfig file that only this user can read.
func (c Client) WriteKubeconfig(file string) error {
	const name = "ipamsim"
	k := api.NewConfig()
	k.Clusters[name] = &api.Cluster{Server: c.URL, CertificateAuthorityData: c.Authority}
	k.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: c.Certificate, ClientKeyData: c.Key}
	k.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	return clientcmd.WriteToFile(*k, file)
}

// Step advances the run of a kubeconfig's Server by some steps and returns one line with its
// position. It returns the Server's error if that fails.
func Step(ctx context.Context, kubeconfig string, steps int) (where string, err error) {
	conf, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", err
	}
	client, err := rest.HTTPClientFor(conf)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, conf.Host+stepPath+"?n="+strconv.Itoa(steps), http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", refused(body)
	}
	return string(body), nil
}
