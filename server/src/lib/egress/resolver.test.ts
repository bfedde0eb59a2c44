import { describe, expect, it, onTestFinished } from 'vitest'
import { serveNames } from '#test/doubles/name-server.ts'
import { parseEgressAllow } from './addresses.ts'
import { createResolver } from './resolver.ts'

const SERVFAIL = 2

function resolverFor(server: string, allow = '') {
  const resolver = createResolver({ allow: parseEgressAllow(allow).entries, servers: [server] })
  onTestFinished(resolver.cancel)
  return resolver
}

describe('a host name', () => {
  it('resolves to all its addresses of both families, IPv4 first', async () => {
    const v6 = '2606:4700::1'
    const { server } = await serveNames({
      'both.example': { a: ['93.184.216.34', '10.0.0.1'], aaaa: [v6] },
      'four.example': { a: ['1.1.1.1'] },
      'six.example': { aaaa: [v6] },
    })
    const { resolve } = resolverFor(server)
    expect((await resolve('both.example')).slice(0, 2).toSorted()).toEqual(['10.0.0.1', '93.184.216.34'])
    expect((await resolve('both.example')).slice(2)).toEqual(['2606:4700::1'])
    expect(await resolve('four.example')).toEqual(['1.1.1.1'])
    expect(await resolve('six.example')).toEqual(['2606:4700::1'])
  })

  it('that does not exist, has no address, or whose server fails is told apart', async () => {
    const { server } = await serveNames({ 'empty.example': {}, 'broken.example': { code: SERVFAIL } })
    const { resolve } = resolverFor(server)
    await expect(resolve('none.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolve('empty.example')).rejects.toMatchObject({ code: 'ENODATA' })
    await expect(resolve('broken.example')).rejects.toMatchObject({ code: 'ESERVFAIL' })
  })

  it('is still resolved when its server fails for IPv6', async () => {
    const { server } = await serveNames({ 'old.example': { a: ['1.1.1.1'], code: SERVFAIL } })
    expect(await resolverFor(server).resolve('old.example')).toEqual(['1.1.1.1'])
  })

  it('of the operator is asked of the system, which knows the hosts file', async () => {
    const { server, asked } = await serveNames({ localhost: { a: ['8.8.8.8'] } })
    const addresses = await resolverFor(server, 'localhost:8080').resolve('localhost')
    expect(addresses.every((address) => address === '127.0.0.1' || address === '::1')).toBe(true)
    expect(asked).toEqual([])
  })

  it('that name servers do not know is asked of the system when private addresses are allowed at all', async () => {
    const { server } = await serveNames({})
    await expect(resolverFor(server).resolve('localhost')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    const addresses = await resolverFor(server, '10.0.0.0/8').resolve('localhost')
    expect(addresses.every((address) => address === '127.0.0.1' || address === '::1')).toBe(true)
  })
})
