import { describe, expect, it, onTestFinished } from 'vitest'
import { serveNames, type Zone } from '#test/doubles/name-server.ts'
import { createEgress } from '../../../lib/egress/egress.ts'
import { makeServices } from '../../testing/pull-source.ts'
import { reverseDns } from './reverse-dns.ts'

const ADDRESS = '93.184.216.34'
const ARPA = '34.216.184.93.in-addr.arpa'

async function find(address: string, zone: Zone) {
  const { server, asked } = await serveNames(zone)
  const egress = createEgress({ allow: [], servers: [server] })
  onTestFinished(() => egress.close())
  const ask = async () => ({ kind: 'miss' as const })
  const found = await reverseDns.find(address, { ask, context: { ...makeServices(), egress } })
  return { found, asked }
}

const named = (name: string): Zone => ({ [ARPA]: { ptr: [name] }, [name]: { a: [ADDRESS] } })

describe('reverse DNS', () => {
  it.each(['mail.acme.com', 'acme.com', 'vpn.acme.co.uk', 'PROXY1.Berlin.Acme.DE'])(
    '%s is its company',
    async (name) => {
      const zone = named(name.toLowerCase())
      const { found } = await find(ADDRESS, zone)
      expect(found).toMatchObject({ name: null, domain: expect.stringMatching(/^acme\.(com|co\.uk|de)$/) })
    },
  )

  it.each([
    ['c-93-184-216-34.hsd1.ca.comcast.net', 'an access network'],
    ['ec2-93-184-216-34.compute-1.amazonaws.com', 'a cloud'],
    ['static.34.216.184.93.clients.your-server.de', 'hosting'],
    ['216-34.some-unknown-isp.net', 'a name that holds the address'],
    ['dsl-4711.some-unknown-isp.net', 'a name that says DSL'],
    ['pool-12.cust.some-unknown-isp.net', 'a name that says customer'],
    ['localhost', 'no domain'],
    ['com', 'a suffix alone'],
  ])('%s is nobody: %s', async (name) => {
    expect((await find(ADDRESS, named(name))).found).toBeNull()
  })

  it('a name that does not resolve back is ignored', async () => {
    const zone: Zone = { [ARPA]: { ptr: ['www.acme.com'] }, 'www.acme.com': { a: ['192.0.2.1'] } }
    expect((await find(ADDRESS, zone)).found).toBeNull()
  })

  it('the first of several names that resolves back counts', async () => {
    const zone: Zone = {
      [ARPA]: { ptr: ['www.lie.com', 'mail.acme.com'] },
      'www.lie.com': { a: ['192.0.2.1'] },
      'mail.acme.com': { a: [ADDRESS] },
    }
    expect((await find(ADDRESS, zone)).found).toMatchObject({ domain: 'acme.com' })
  })

  it('IPv6 is looked up by nibbles, and compared in any notation', async () => {
    const { found, asked } = await find('2606:2800:0220:0001::1946', {
      '6.4.9.1.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.2.2.0.0.0.8.2.6.0.6.2.ip6.arpa': { ptr: ['six.acme.com'] },
      'six.acme.com': { aaaa: ['2606:2800:220:1::1946'] },
    })
    expect(found).toMatchObject({ domain: 'acme.com' })
    expect(asked[0]).toContain('ip6.arpa PTR')
  })

  it.each([
    ['does not exist', {}],
    ['has none', { [ARPA]: {} }],
    ['fails', { [ARPA]: { code: 2 } }],
  ])('an address whose name %s is nobody', async (_what, zone) => {
    expect((await find(ADDRESS, zone)).found).toBeNull()
  })
})
