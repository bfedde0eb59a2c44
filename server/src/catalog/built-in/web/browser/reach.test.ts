import { createSocket } from 'node:dgram'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { serveNames } from '#test/doubles/name-server.ts'
import { REFUSED_ADDRESSES } from '#test/guards/ssrf-addresses.ts'
import { REFUSED_URLS } from '#test/guards/ssrf-urls.ts'
import { CHROMIUM } from '#test/plumbing/chromium.ts'
import { parseEgressAllow } from '../../../../lib/egress/addresses.ts'
import { createEgress } from '../../../../lib/egress/egress.ts'
import { serveSite } from '../../../testing/site-server.ts'
import { BOUNDS, createBrowserPool } from './browser.ts'
import { openProxy } from './proxy.ts'

// No test depends on how fast a page is.
vi.setConfig({ testTimeout: 300_000 })
const pool = createBrowserPool(CHROMIUM, { timeoutMs: 280_000, settleMs: 200_000, maxRequests: 2000 })
afterAll(pool.close)

async function fetchingFor(allow: string) {
  const { server } = await serveNames({ 'inside.example': { a: ['127.0.0.1'] } })
  const egress = createEgress({ allow: parseEgressAllow(allow).entries, servers: [server] })
  onTestFinished(egress.close)
  return { egress, signal: new AbortController().signal, now: () => new Date() }
}

const interfaces = Object.values(networkInterfaces()).flat()
const EVERY_ADDRESS = interfaces.some((one) => one?.family === 'IPv6') ? '::' : '0.0.0.0'
/** Listens on every address of this machine. Only an allowed call may reach it. */
const serveForbidden = () =>
  serveHttp((_request, response) => {
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('SECRET')
  }, EVERY_ADDRESS)

const ADDRESS_URLS = Object.values(REFUSED_ADDRESSES)
  .flat()
  .filter((address) => !address.includes('%'))
  .map((address) => `http://${isIPv6(address) ? `[${address}]` : address}:PORT/`)
const TARGETS = [...ADDRESS_URLS, ...Object.values(REFUSED_URLS).flat(), 'http://inside.example:PORT/']

/** A page that keeps a request open until its script has tried everything, so that the page is not complete earlier. */
async function serveTrying(
  script: string,
  more: (request: IncomingMessage, response: ServerResponse) => void,
) {
  let release = () => {}
  const page = `<title>x</title><p id="p"></p><script>
    fetch('/hold')
    const tries = async () => { ${script} }
    tries().then((said) => {
      document.getElementById('p').textContent = 'Tried: ' + said
      return fetch('/release')
    })
  </script>`
  return serveHttp((request, response) => {
    if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(page)
    else if (request.url === '/hold') release = () => void response.end()
    else if (request.url === '/release') {
      response.end()
      release()
    } else more(request, response)
  })
}

describe('a page that a browser renders reaches no private address', () => {
  it(`by any of ${TARGETS.length} addresses`, async () => {
    const forbidden = await serveForbidden()
    const urls = TARGETS.map((url) => url.replace('PORT', String(forbidden.port)))
    const script = `
      const ask = (url) => fetch(url, { mode: 'no-cors' }).then(() => 1, () => 0)
      return (await Promise.all(${JSON.stringify(urls)}.map((url) => ask(url)))).length`
    const site = await serveTrying(script, (_request, response) => void response.end())
    const browser = pool.of('a test')
    const closed = await browser.draw(await fetchingFor(`127.0.0.1:${site.port}`), `${site.origin}/`)
    expect(closed).toMatchObject({ ok: true, html: expect.stringContaining(`Tried: ${urls.length}`) })
    expect(forbidden.accepted()).toBe(0)
    // The same page reaches it once that is allowed, which proves that this test can fail.
    await browser.draw(await fetchingFor('127.0.0.0/8'), `${site.origin}/`)
    expect(forbidden.accepted()).toBeGreaterThan(10)
  })

  it.each<[string, string]>([
    ['a redirect', `return fetch('/redirect').then((r) => r.text(), () => 'refused')`],
    [
      'a WebSocket',
      `return new Promise((resolve) => {
        const socket = new WebSocket('ws://HOST/')
        socket.onopen = socket.onerror = () => resolve('told')
      })`,
    ],
    [
      'a worker',
      `const code = "fetch('http://HOST/').then((r) => r.text()).then(postMessage, () => postMessage('refused'))"
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })))
      return new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data) })`,
    ],
    [
      'a frame, a style sheet and a beacon',
      `navigator.sendBeacon('http://HOST/', 'x')
      const load = (tag, given) => new Promise((resolve) => {
        const element = Object.assign(document.createElement(tag), given)
        element.onload = element.onerror = resolve
        document.body.append(element)
      })
      await Promise.all([
        load('iframe', { src: 'http://HOST/' }),
        load('link', { rel: 'stylesheet', href: 'http://HOST/' }),
        load('script', { src: 'http://HOST/' }),
      ])
      return 'loaded'`,
    ],
    [
      'a window that it opens, or a frame that is led there',
      `window.open('http://HOST/')
      const frame = Object.assign(document.createElement('iframe'), { src: '/redirect' })
      await new Promise((resolve) => {
        frame.onload = resolve
        document.body.append(frame)
      })
      return 'loaded'`,
    ],
  ])('by %s', async (_name, script) => {
    const forbidden = await serveForbidden()
    const host = `127.0.0.1:${forbidden.port}`
    const site = await serveTrying(script.replaceAll('HOST', host), (_request, response) => {
      response.writeHead(302, { location: `http://${host}/` }).end()
    })
    const browser = pool.of('a test')
    const drawn = await browser.draw(await fetchingFor(`127.0.0.1:${site.port}`), `${site.origin}/`)
    expect(drawn).toMatchObject({ ok: true, html: expect.stringContaining('Tried: ') })
    expect(drawn).toMatchObject({ html: expect.not.stringContaining('SECRET') })
    expect(forbidden.accepted()).toBe(0)
    await browser.draw(await fetchingFor('127.0.0.0/8'), `${site.origin}/`)
    expect(forbidden.accepted()).toBeGreaterThan(0)
  })

  it('by WebRTC, WebTransport or a service worker, reads no file or page of the browser, and stores no download', async () => {
    const udp = createSocket('udp4')
    let datagrams = 0
    udp.on('message', () => void (datagrams += 1))
    await new Promise<void>((resolve) => {
      udp.bind(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => void udp.close())
    const { port } = udp.address()
    const script = `
      const said = []
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] })
      peer.createDataChannel('x')
      const gathered = new Promise((resolve) => {
        peer.onicecandidate = ({ candidate }) => { if (candidate === null) resolve() }
      })
      await peer.setLocalDescription(await peer.createOffer())
      await gathered
      const transport = new WebTransport('https://127.0.0.1:${port}/')
      transport.closed.catch(() => undefined)
      said.push(await transport.ready.then(() => 'open', () => 'no transport'))
      await navigator.serviceWorker?.register('/worker.js')
      const kept = await navigator.serviceWorker?.getRegistrations() ?? []
      said.push(kept.length + ' workers')
      for (const url of ['file:///etc/passwd', 'chrome://version']) {
        said.push(await fetch(url).then(() => 'read', () => 'refused'))
        const frame = Object.assign(document.createElement('iframe'), { src: url })
        document.body.append(frame)
        window.open(url)
      }
      Object.assign(document.createElement('a'), { href: '/file', download: 'file' }).click()
      return said.join(', ')`
    const site = await serveTrying(script, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end('')
    })
    // Service workers need a secure origin, and localhost is one.
    const { egress, ...others } = await fetchingFor('127.0.0.0/8,localhost')
    const drawn = await pool.of('a test').draw({ egress, ...others }, `http://localhost:${site.port}/`)
    expect(drawn).toMatchObject({
      html: expect.stringContaining('Tried: no transport, 0 workers, refused, refused'),
    })
    expect(drawn).toMatchObject({ html: expect.not.stringContaining('root:') })
    expect(datagrams).toBe(0)
  })

  it.each(['file:///etc/passwd', 'chrome://version', 'view-source:http://a.example/', 'nothing'])(
    'and %s is no page',
    async (url) => {
      const drawn = await pool.of('a test').draw(await fetchingFor(''), url)
      expect(drawn).toMatchObject({ ok: false, message: expect.stringContaining('not an http') })
    },
  )
})

describe('the proxy of a browser', () => {
  const ask = (port: number, path: string) =>
    new Promise<string>((resolve) => {
      const asked = get({ port, path, host: '127.0.0.1' }, (reply) => {
        reply.resume()
        resolve(String(reply.statusCode))
      })
      asked.once('error', () => resolve('broken'))
    })

  it.each([
    ['a status that is none', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'],
    ['a status beyond all', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['no HTTP', '\0\0\0'],
  ])('survives a server that answers %s', async (_name, said) => {
    const odd = await serveRaw((socket) => socket.end(said))
    const good = await serveSite({ '/': 'x' })
    const { egress, signal } = await fetchingFor(`127.0.0.1:${odd.port},127.0.0.1:${good.port}`)
    const proxy = await openProxy(egress, signal, BOUNDS)
    onTestFinished(proxy.close)
    expect(await ask(proxy.port, `http://127.0.0.1:${odd.port}/`)).toBe('broken')
    expect(await ask(proxy.port, `http://127.0.0.1:${good.port}/`)).toBe('200')
  })

  it('refuses private addresses, invalid addresses and other protocols', async () => {
    const forbidden = await serveForbidden()
    const { egress, signal } = await fetchingFor('')
    const proxy = await openProxy(egress, signal, BOUNDS)
    onTestFinished(proxy.close)
    const paths = [`http://127.0.0.1:${forbidden.port}/`, '/', 'ftp://a.example/', 'http://inside.example/']
    for (const path of paths) expect(await ask(proxy.port, path)).toBe('403')
    expect(forbidden.accepted()).toBe(0)
  })
})
