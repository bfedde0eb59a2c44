import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { MALFORMED_ADDRESSES, REFUSED_ADDRESSES } from '#test/guards/ssrf-addresses.ts'
import { parseEgressAllow } from './addresses.ts'
import { createEgress, type Egress } from './egress.ts'

function egressFor(allow: string, resolve?: (host: string) => Promise<string[]>): Egress {
  const egress = createEgress({ allow: parseEgressAllow(allow).entries, ...(resolve && { resolve }) })
  onTestFinished(egress.close)
  return egress
}

const ADDRESSES = Object.values(REFUSED_ADDRESSES).flat()
const noName = (host: string) => Promise.reject(new Error(`asked for ${host}`))

describe('SSRF: a bare connection is made to no address that is not public', () => {
  it('refuses each address, and the names of this machine', async () => {
    const server = await serveRaw((socket) => socket.end('reached'))
    const egress = egressFor('', noName)
    const hosts = [...ADDRESSES, 'localhost', 'LOCALHOST.', 'a.b.localhost']
    for (const host of hosts) {
      expect(await egress.connect({ host, port: server.port })).toMatchObject({
        ok: false,
        kind: 'refused_address',
      })
    }
    expect(server.accepted()).toBe(0)
  })

  it('refuses a name that resolves to any of them, also beside a public address', async () => {
    const server = await serveRaw((socket) => socket.end('reached'))
    for (const address of [...ADDRESSES, ...MALFORMED_ADDRESSES]) {
      const egress = egressFor('', () => Promise.resolve(['93.184.216.34', address]))
      const result = await egress.connect({ host: 'mx.example', port: server.port })
      expect([address, result]).toMatchObject([address, { ok: false, kind: 'refused_address' }])
    }
    expect(server.accepted()).toBe(0)
  })

  it('reaches that listener once an entry allows it, so that the tests above could fail', async () => {
    const server = await serveRaw((socket) => socket.end('reached'))
    const opened = await egressFor('127.0.0.1').connect({ host: '127.0.0.1', port: server.port })
    if (!opened.ok) throw new Error(opened.message)
    const [data] = await once(opened.socket, 'data')
    expect(String(data)).toBe('reached')
  })

  it('connects to the address that was checked and resolves no second time (DNS rebinding)', async () => {
    // 127.0.0.1 is allowed and stands for a public address. 127.0.0.2 stands for a private one.
    const server = await serveRaw((socket) => socket.end('good'))
    let asked = 0
    const egress = egressFor('127.0.0.1', () => Promise.resolve([asked++ === 0 ? '127.0.0.1' : '127.0.0.2']))
    const target = { host: 'rebind.example', port: server.port }
    const first = await egress.connect(target)
    expect(first.ok).toBe(true)
    expect(asked).toBe(1)
    expect(await egress.connect(target)).toMatchObject({ ok: false, kind: 'refused_address' })
    expect(asked).toBe(2)
    expect(server.accepted()).toBe(1)
  })
})

describe('a bare connection', () => {
  it('goes to the next address when the first refuses', async () => {
    const server = await serveRaw((socket) => socket.end('good'))
    const egress = egressFor('127.0.0.0/8', () => Promise.resolve(['127.0.0.9', '127.0.0.1']))
    expect((await egress.connect({ host: 'two.example', port: server.port })).ok).toBe(true)
  })

  it.each<[string, Parameters<typeof egressFor>[1], string]>([
    ['nobody listens', () => Promise.resolve(['127.0.0.1']), 'connect'],
    ['the name has no address', () => Promise.resolve([]), 'dns'],
    ['the name is never resolved', () => new Promise(() => undefined), 'timeout'],
  ])('fails as data when %s', async (_what, resolve, kind) => {
    const server = await serveRaw(() => undefined)
    await server.close()
    const egress = egressFor('127.0.0.1', resolve)
    const result = await egress.connect({ host: 'a.example', port: server.port, timeoutMs: 300 })
    expect(result).toMatchObject({ ok: false, kind, message: expect.stringContaining('a.example port') })
  })

  it('is given up when the caller or the process gives up', async () => {
    const never = () => new Promise<string[]>(() => undefined)
    const controller = new AbortController()
    const call = egressFor('', never).connect({ host: 'a.example', port: 25, signal: controller.signal })
    controller.abort()
    expect(await call).toMatchObject({ ok: false, kind: 'aborted' })

    const server = await serveRaw(() => undefined)
    const egress = egressFor('127.0.0.1')
    const opened = await egress.connect({ host: '127.0.0.1', port: server.port })
    if (!opened.ok) throw new Error(opened.message)
    const closed = once(opened.socket, 'close')
    await egress.close()
    await closed
    expect(opened.socket.destroyed).toBe(true)
  })
})
