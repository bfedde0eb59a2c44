// Polls /healthz all the time, in a separate process, so that the work of the watching program does not
// count. Reports each response that took longer than all before. Any message ends it.
import { setTimeout as sleep } from 'node:timers/promises'

const [url = ''] = process.argv.slice(2)
let isWatching = true
let slowest = 0
process.once('message', () => (isWatching = false))
// Without the parent program nobody receives the reports.
const leave = () => process.exit(1)
process.once('disconnect', leave)

async function watch(): Promise<void> {
  if (!isWatching) return
  const started = performance.now()
  const answer = await fetch(`${url}/healthz`)
  await answer.arrayBuffer()
  const ms = performance.now() - started
  if (!answer.ok) throw new Error(`/healthz answered ${answer.status}`)
  if (ms > slowest) {
    slowest = ms
    process.send?.(ms)
  }
  await sleep(10)
  return watch()
}

await watch()
process.off('disconnect', leave)
process.disconnect()
