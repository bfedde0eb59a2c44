// Preloaded into a server (`NODE_OPTIONS=--import=...`). Writes each period in which its main thread worked
// 50 ms or more without a pause, by processor time, to the file LOAM_THREAD_WATCH. A busy machine does not
// change the result.
import { openSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env['LOAM_THREAD_WATCH']
if (isMainThread && path !== undefined) {
  const file = openSync(path, 'a')
  const readCpuMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let before = readCpuMs()
  setInterval(() => {
    const now = readCpuMs()
    const held = now - before
    before = now
    if (held >= 50) writeSync(file, `${Date.now()} ${Math.round(held)}\n`)
  }, 2).unref()
}
