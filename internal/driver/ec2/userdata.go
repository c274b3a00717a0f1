package ec2

import "fmt"

// idleEnd is after how many seconds without a worker a machine ends itself. The coordinator ends machines much sooner; this is for when there is none.
const idleEnd = 600

// watchdog shuts a machine down once no worker of berth has run there for some seconds, or once it has been up for some seconds. It has no single quotes.
const watchdog = `(last=0; while sleep 20; do read -r now rest </proc/uptime; now=${now%%%%.*}; [ $last -gt 0 ] || last=$now; ` +
	`if pgrep -f "/berth-[0-9a-f]* worker --stdio" >/dev/null; then last=$now; fi; ` +
	`if [ $((now - last)) -ge %d ] || [ $now -ge %d ]; then shutdown -h now || poweroff -f; fi; done) </dev/null >/dev/null 2>&1 &`

// forever is the seconds for which a machine may be up, where no budget ends it: ten years.
const forever = 10 * 365 * 86400

// userData is what a machine is told at its start (cloud-init): who may log in, and when it is to end itself. Nothing of it is secret. most is the seconds after
// which it ends itself in any case, 0 for no such time.
func userData(publicKey string, most int) string {
	if most <= 0 {
		most = forever
	}
	return fmt.Sprintf("#cloud-config\nssh_authorized_keys:\n  - %s\nbootcmd:\n  - [ sh, -c, '%s' ]\n", publicKey, fmt.Sprintf(watchdog, idleEnd, most))
}
