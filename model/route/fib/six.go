package fib

// Metrics of IPv6 routes: of what the kernel makes itself, and of all others that say
// none.
//
// Source: include/linux/ipv6_route.h and net/ipv6/addrconf.c (IP6_RT_PRIO_USER,
// IP6_RT_PRIO_ADDRCONF).
const (
	metricKernel = 256
	metricUser   = 1024
)

// InSix completes a route as Linux keeps one of IPv6: with a metric, and a device where
// packets are dropped.
func (r *Route) InSix() {
	r.Metric = metricUser
	if r.Proto == Kernel {
		r.Metric = metricKernel
	}
	if r.Type != Unicast {
		r.Dev = "lo"
	}
}
