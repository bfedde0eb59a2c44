import { expect, it, onTestFinished } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { serveNames } from '#test/doubles/name-server.ts'
import { readConfig } from '../config/config.ts'
import { createEgress } from './egress.ts'
import { egressSettings } from './settings.ts'

function egressOf(env: Record<string, string>) {
  const egress = createEgress(egressSettings(readConfig(env)))
  onTestFinished(egress.close)
  return egress
}

it('D55: LOAM_PROVIDER_URL_<NAME> replaces the base URL of a provider, and of no other', () => {
  const egress = egressOf({ LOAM_PROVIDER_URL_GREENHOUSE: 'http://127.0.0.1:4000/' })
  expect(egress.baseUrl('greenhouse', 'https://real.example')).toBe('http://127.0.0.1:4000')
  expect(egress.baseUrl('lever', 'https://real.example')).toBe('https://real.example')
})

it('LOAM_DNS_SERVERS are asked for records and for the hosts of calls, which LOAM_EGRESS_ALLOW still guards', async () => {
  const { server } = await serveNames({ 'acme.example': { a: ['127.0.0.1'], txt: ['hello'] } })
  const site = await serveHttp((_request, response) => response.end('reached'))
  const url = `http://acme.example:${site.port}/`
  const guarded = egressOf({ LOAM_DNS_SERVERS: server })
  expect(await guarded.dns.txt('acme.example')).toMatchObject({ records: ['hello'] })
  expect(await guarded.fetch({ url })).toMatchObject({ ok: false, kind: 'refused_address' })
  const open = egressOf({ LOAM_DNS_SERVERS: server, LOAM_EGRESS_ALLOW: '127.0.0.1' })
  expect(await open.fetch({ url })).toMatchObject({ ok: true, status: 200 })
})

it('mail servers are greeted with the host of LOAM_PUBLIC_URL, at LOAM_SMTP_PROBE_PORT', () => {
  expect(egressOf({ LOAM_PUBLIC_URL: 'https://loam.example.com/' }).smtpProbe).toEqual({
    port: 25,
    name: 'loam.example.com',
  })
  expect(egressOf({ LOAM_SMTP_PROBE_PORT: '0' }).smtpProbe).toMatchObject({
    port: 0,
    name: expect.any(String),
  })
})

it('a redirect can be asked for as it is, with the address that it names', async () => {
  const site = await serveHttp((_request, response) => {
    response.writeHead(302, { location: '/next?x=1' }).end('moved')
  })
  const egress = egressOf({ LOAM_EGRESS_ALLOW: '127.0.0.1' })
  const reply = await egress.fetch({ url: `${site.origin}/first`, redirects: 'return' })
  expect(reply).toMatchObject({
    ok: true,
    status: 302,
    location: `${site.origin}/next?x=1`,
    url: `${site.origin}/first`,
  })
})
