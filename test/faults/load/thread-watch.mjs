// Preloaded into a server (`NODE_OPTIONS=--import=...`). Writes each period in which its main thread worked
// 50 ms or more without a pause, by processor time, to the file LOAM_THREAD_WATCH. A busy machine does not
// change the result. With LOAM_THREAD_PROFILE, the functions that took most of such a period are written too;
// V8's profiler makes every period a little longer.
import { openSync, writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

const HELD_MS = 50
const NAMED = 8
const LONGEST_PROFILE_MS = 5_000

const path = process.env['LOAM_THREAD_WATCH']
if (isMainThread && path !== undefined) {
  const file = openSync(path, 'a')
  const readCpuMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  const profile = process.env['LOAM_THREAD_PROFILE'] === undefined ? undefined : startProfile()
  let before = readCpuMs()
  let looked = performance.now()
  setInterval(() => {
    const held = readCpuMs() - before
    const parts = profile?.(held >= HELD_MS, performance.now() - looked) ?? ''
    if (held >= HELD_MS) writeSync(file, `${Date.now()} ${Math.round(held)} ${parts}\n`)
    looked = performance.now()
    before = readCpuMs()
  }, 2).unref()
}

/**
 * Starts V8's profiler. Returns a function that names the parts of the last milliseconds, if they are asked
 * for, and begins a new profile now and then.
 */
function startProfile() {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 1000 })
  let began = 0
  const start = () => {
    began = performance.now()
    session.post('Profiler.start')
  }
  start()
  return (isAsked, ms) => {
    if (!isAsked && performance.now() - began < LONGEST_PROFILE_MS) return undefined
    let parts
    // A session of the same thread answers at once.
    session.post('Profiler.stop', (_, { profile }) => (parts = isAsked ? nameParts(profile, ms) : undefined))
    start()
    return parts
  }
}

/** Names the functions that took most of the last milliseconds of a profile, each with its callers. */
function nameParts({ nodes, samples, timeDeltas, endTime, startTime }, ms) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const times = new Map()
  let at = startTime
  for (const [n, delta] of timeDeltas.entries()) {
    at += delta
    if (at < endTime - ms * 1000) continue
    const name = nameStack(samples[n])
    times.set(name, (times.get(name) ?? 0) + delta / 1000)
  }
  const top = [...times].toSorted((a, b) => b[1] - a[1]).slice(0, NAMED)
  return top.map(([name, time]) => `${Math.round(time)} ms ${name}`).join('; ')

  function nameStack(id) {
    const names = []
    for (let node = byId.get(id); node !== undefined; node = byId.get(parents.get(node.id))) {
      const { functionName, url, lineNumber } = node.callFrame
      const place = `${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`
      if (names.length < 4) names.push(`${functionName || '-'}${url === '' ? '' : `@${place}`}`)
    }
    return names.join(' < ')
  }
}
