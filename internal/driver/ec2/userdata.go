package ec2

import "fmt"

// idleEnd is the time without a worker, seconds, after which a machine ends itself. A coordinator ends machines much sooner; this is for the case that there is none.
const idleEnd = 600

// watchdog is a shell script that shuts a machine down when no worker of berth has run there for some seconds, or when the machine has been up for some seconds. It contains no single quotes.
const watchdog = `(last=0; while sleep 20; do read -r now rest </proc/uptime; now=${now%%%%.*}; [ $last -gt 0 ] || last=$now; ` +
	`if pgrep -f "/berth-[0-9a-f]* worker --stdio" >/dev/null; then last=$now; fi; ` +
	`if [ $((now - last)) -ge %d ] || [ $now -ge %d ]; then shutdown -h now || poweroff -f; fi; done) </dev/null >/dev/null 2>&1 &`

// forever is the longest time that a machine may be up without a budget, seconds: ten years.
const forever = 10 * 365 * 86400

// userData returns the configuration of a machine for its start (cloud-init): the key that may log in, and the watchdog. It contains no secrets. most is the time, seconds,
// after which the machine ends itself in any case; 0: no limit.
func userData(publicKey string, most int) string {
	if most <= 0 {
		most = forever
	}
	return fmt.Sprintf("#cloud-config\nssh_authorized_keys:\n  - %s\nbootcmd:\n  - [ sh, -c, '%s' ]\n", publicKey, fmt.Sprintf(watchdog, idleEnd, most))
}
