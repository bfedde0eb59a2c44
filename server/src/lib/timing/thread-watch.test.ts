import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { type HeldThread, onHeldThread, resumeWork, watchThread, workAs } from './thread-watch.ts'

/** Uses this much processor time without a pause. */
function burn(ms: number): void {
  const cpuMs = () => process.threadCpuUsage().user / 1000
  const end = cpuMs() + ms
  while (cpuMs() < end) Math.random()
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Watches this thread and returns what was logged and published. */
function watch(): { logged: object[]; published: HeldThread[] } {
  const [logged, published]: [object[], HeldThread[]] = [[], []]
  ends.push(
    watchThread({ warn: (fields: object) => void logged.push(fields) }),
    onHeldThread((one) => published.push(one)),
  )
  return { logged, published }
}

describe('I6: the event loop is watched', () => {
  it('work of more than 200 ms without a pause is logged and published with what did it', async () => {
    const { logged, published } = watch()
    await sleep(50)
    workAs('GET /quick', () => burn(5))
    workAs('POST /slow', () => burn(260))
    await sleep(50)
    expect(published).toEqual([{ work: 'POST /slow', ms: expect.any(Number) }])
    expect(published[0]?.ms).toBeGreaterThanOrEqual(255)
    expect(logged).toEqual(published)
  })

  it('work that continues after a wait keeps its name', async () => {
    const { published } = watch()
    await workAs('action slow', async () => {
      await sleep(30)
      resumeWork()
      burn(250)
    })
    await sleep(50)
    expect(published.map(({ work }) => work)).toEqual(['action slow'])
  })

  it('work of an unknown caller is called unknown, and not by the name of the previous work', async () => {
    const { published } = watch()
    workAs('GET /quick', () => undefined)
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    burn(250)
    await sleep(50)
    expect(published.map(({ work }) => work)).toEqual(['unknown'])
  })

  it('many short steps are not reported, nor a thread that another process keeps waiting', async () => {
    const { published } = watch()
    for (let n = 0; n < 30; n++) {
      burn(10)
      await sleep(1)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    await sleep(50)
    expect(published).toEqual([])
  })

  it('a route that holds the thread is named in /metrics, also after its admission', async () => {
    let isArmed = false
    const catalogue = new Proxy(await loadCatalogue(), {
      get(target, name) {
        if (isArmed) {
          burn(300)
        }
        isArmed = false
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const app = await makeApp({ services: { catalogue } })
    const org = await app.makeOrg()
    await org.call('GET', '/actions')
    const { published } = watch()
    isArmed = true
    await org.call('GET', '/actions')
    await sleep(50)
    expect(published.map(({ work }) => work)).toEqual(['GET /api/v1/actions'])
    const { payload } = await app.api.inject({ url: '/metrics' })
    expect(payload).toContain('loam_thread_held_seconds_count{work="GET /api/v1/actions"} 1')
    expect(payload).toMatch(/^loam_thread_held_seconds_max 0\.[2-9]/m)
  })
})
