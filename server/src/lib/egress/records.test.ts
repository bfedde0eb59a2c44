import { describe, expect, it, onTestFinished } from 'vitest'
import { serveNames, type Zone } from '#test/doubles/name-server.ts'
import { parseNameServers } from './name-servers.ts'
import { createRecords } from './records.ts'

const SERVFAIL = 2

async function recordsFor(zone: Zone) {
  const { server } = await serveNames(zone)
  const { dns, cancel } = createRecords([server])
  onTestFinished(cancel)
  return dns
}

describe('records of a name', () => {
  it('are answered by kind: mail servers by preference, texts in one piece', async () => {
    const long = `v=spf1 ${'ip4:192.0.2.1 '.repeat(30)}-all`
    const dns = await recordsFor({
      'acme.example': {
        mx: [
          [20, 'b.mx.example'],
          [10, 'a.mx.example'],
        ],
        txt: [long, 'other'],
        ns: ['ns2.example', 'ns1.example'],
        a: ['192.0.2.1'],
        aaaa: ['2001:db8::1'],
      },
      'www.acme.example': { cname: 'sites.example' },
    })
    const found = (records: unknown[]) => ({ ok: true, exists: true, records })
    expect(await dns.mx('acme.example')).toEqual(
      found([
        { priority: 10, exchange: 'a.mx.example' },
        { priority: 20, exchange: 'b.mx.example' },
      ]),
    )
    expect(await dns.txt('acme.example')).toMatchObject({ records: expect.arrayContaining([long, 'other']) })
    expect(await dns.ns('acme.example')).toEqual(found(['ns1.example', 'ns2.example']))
    expect(await dns.cname('www.acme.example')).toEqual(found(['sites.example']))
    expect(await dns.addresses('acme.example')).toEqual(found(['192.0.2.1', '2001:db8::1']))
  })

  it('of a name that does not exist, that has none, and of a server that fails are told apart', async () => {
    const dns = await recordsFor({ 'empty.example': {}, 'broken.example': { code: SERVFAIL } })
    expect(await dns.mx('none.example')).toEqual({ ok: true, exists: false, records: [] })
    expect(await dns.mx('empty.example')).toEqual({ ok: true, exists: true, records: [] })
    expect(await dns.mx('broken.example')).toMatchObject({
      ok: false,
      message: expect.stringContaining('ESERVFAIL'),
    })
    expect(await dns.addresses('broken.example')).toMatchObject({ ok: false })
  })

  it.each(['', '127.0.0.1', '::1', 'a'.repeat(300), 'a..b', 'white space.example'])(
    'of "%s" are none: it is no name',
    async (name) => {
      const dns = await recordsFor({})
      expect(await dns.txt(name)).toMatchObject({ ok: true, exists: false, records: [] })
    },
  )
})

describe('LOAM_DNS_SERVERS', () => {
  it('lists addresses, with a port where it is not 53', () => {
    expect(parseNameServers(' 192.0.2.53, 192.0.2.53:5353\t[2001:db8::53]:53 2001:db8::53')).toEqual({
      servers: ['192.0.2.53', '192.0.2.53:5353', '[2001:db8::53]:53', '2001:db8::53'],
      errors: [],
    })
  })

  it.each([
    'dns.example',
    '192.0.2.53:0',
    '192.0.2.53:65536',
    '192.0.2.53:',
    '[192.0.2.53]:53',
    'udp://192.0.2.53',
  ])('has one clear line for a wrong entry: %s', (text) => {
    expect(parseNameServers(`192.0.2.1,${text}`).errors).toEqual([
      expect.stringMatching(/^".*" is no name server; write /),
    ])
  })
})
