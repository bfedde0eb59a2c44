import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { CHROMIUM } from '#test/chromium.ts'
import { serveHttp, serveRaw } from '#test/loopback-server.ts'
import { serveNames } from '#test/name-server.ts'
import { parseEgressAllow } from '../../../../lib/egress/addresses.ts'
import { createEgress } from '../../../../lib/egress/egress.ts'
import { createPageReader } from '../../../agent/page-reader.ts'
import { useActions } from '../../../testing/run-action.ts'
import { serveSite } from '../../../testing/site-server.ts'
import { createBrowser } from './browser.ts'
import { openProxy } from './proxy.ts'

const runAction = useActions()

/** A place of its own for what is left behind. */
const place = mkdtempSync(join(tmpdir(), 'loam-drawing-'))
const usual = process.env['TMPDIR']
beforeAll(() => void (process.env['TMPDIR'] = place))
afterAll(() => {
  if (usual === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = usual
  rmSync(place, { recursive: true })
})
const profiles = () => readdirSync(place).filter((name) => name.startsWith('loam-browser-'))

async function fetchingFor(allow: string) {
  const { server } = await serveNames({ 'inside.example': { a: ['127.0.0.1'] } })
  const egress = createEgress({ allow: parseEgressAllow(allow).entries, servers: [server] })
  onTestFinished(egress.close)
  return { egress, signal: new AbortController().signal, now: () => new Date() }
}

/** A program in the place of the browser. */
function programOf(script: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'loam-program-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'browser')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

const SCRIPTED = `<!doctype html><title>Acme</title><div id="app"></div><script>
  const said = ['Acme was founded by Ada Byron, and ', 6 * 7, ' people work there.']
  document.getElementById('app').innerHTML = '<main><p>' + said.join('') + '</p></main>'
</script>`
const SAID = 'founded by Ada Byron, and 42 people'

describe('a page that needs scripts', () => {
  const path = CHROMIUM

  it('is drawn for scrape_website with render: browser, and not without', async () => {
    const { origin } = await serveSite({ '/': SCRIPTED })
    const drawn = await runAction('scrape_website', { url: origin, render: 'browser' }, { browser: path })
    expect(drawn).toMatchObject({ kind: 'done', outputs: { markdown: expect.stringContaining(SAID) } })
    const sent = await runAction('scrape_website', { url: origin }, { browser: path })
    expect(sent).toMatchObject({ kind: 'done', outputs: { markdown: expect.not.stringContaining(SAID) } })
    expect(profiles()).toEqual([])
  })

  it('is drawn for the agent, where it says next to nothing otherwise', async () => {
    const words = `<main><p>${'Words that are there. '.repeat(20)}</p></main>${SCRIPTED}`
    const site = await serveSite({ '/app': SCRIPTED, '/words': words })
    const fetching = await fetchingFor(`127.0.0.1:${site.port}`)
    const reader = createPageReader({ keepSeconds: 0, browser: createBrowser(path) })
    const read = await reader.read(fetching, `${site.origin}/app`)
    expect(read).toMatchObject({ ok: true, page: { text: expect.stringContaining(SAID) } })
    expect(site.requests.filter((asked) => asked === '/app')).toHaveLength(2)
    await reader.read(fetching, `${site.origin}/words`)
    expect(site.requests.filter((asked) => asked === '/words')).toHaveLength(1)
  })

  it('reaches nothing inside, by whatever it asks for', async () => {
    const forbidden = await serveHttp((_request, response) => {
      response.writeHead(200, { 'access-control-allow-origin': '*' }).end('SECRET')
    })
    const hosts = [
      '127.0.0.1',
      'localhost',
      'inside.example',
      '127.1',
      '0x7f000001',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ]
    const inner = hosts.map((host) => `http://${host}:${forbidden.port}/`)
    const [first = ''] = inner
    const page = `<title>x</title><div id="app"></div>
      <img src="${first}"><iframe src="${first}"></iframe><script src="${first}"></script>
      <link rel="stylesheet" href="${first}"><link rel="preconnect" href="${first}">
      <script>
        const app = document.getElementById('app')
        const say = (text) => { app.innerHTML += '<p>' + text + '</p>' }
        new WebSocket('${first.replace('http', 'ws')}').onerror = () => say('socket refused')
        navigator.sendBeacon('${first}', 'x')
        const all = ${JSON.stringify([...inner, 'http://169.254.169.254/latest/meta-data/', 'SITE/redirect'])}
        Promise.all(all.map((url) => fetch(url.replace('SITE', location.origin)).then((r) => r.text()).catch(() => 'refused')))
          .then((said) => say('Asked: ' + said.join(' ')))
      </script>`
    const site = await serveSite({ '/': page, '/redirect': { status: 302, headers: { location: first } } })
    const fetching = await fetchingFor(`127.0.0.1:${site.port}`)
    const drawn = await createBrowser(path).draw(fetching, `${site.origin}/`)
    expect(drawn).toMatchObject({ ok: true, html: expect.stringContaining('Asked:') })
    expect(drawn).toMatchObject({ html: expect.not.stringContaining('SECRET') })
    expect(site.requests).toContain('/redirect')
    expect(forbidden.accepted()).toBe(0)
    // The same page reaches it once that is allowed, so that the test could fail.
    const open = await fetchingFor('127.0.0.0/8')
    const reached = await createBrowser(path).draw(open, `${site.origin}/`)
    expect(reached).toMatchObject({ html: expect.stringContaining('SECRET') })
    expect(forbidden.accepted()).toBeGreaterThan(0)
  })

  it('is no file of this machine', async () => {
    const fetching = await fetchingFor('')
    const drawn = await createBrowser(path).draw(fetching, 'file:///etc/passwd')
    expect(drawn).toMatchObject({ ok: false, message: expect.stringContaining('not an http') })
  })
})

describe('the way out of a browser', () => {
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
    const proxy = await openProxy(egress, signal)
    onTestFinished(proxy.close)
    expect(await ask(proxy.port, `http://127.0.0.1:${odd.port}/`)).toBe('broken')
    expect(await ask(proxy.port, `http://127.0.0.1:${good.port}/`)).toBe('200')
  })

  it('is closed to what is inside, to what is no address, and to other protocols', async () => {
    const forbidden = await serveHttp((_request, response) => void response.end('SECRET'))
    const { egress, signal } = await fetchingFor('')
    const proxy = await openProxy(egress, signal)
    onTestFinished(proxy.close)
    const paths = [`http://127.0.0.1:${forbidden.port}/`, '/', 'ftp://a.example/', 'http://inside.example/']
    for (const path of paths) expect(await ask(proxy.port, path)).toBe('403')
    expect(forbidden.accepted()).toBe(0)
  })
})

describe('a browser', () => {
  it('gets no setting of this process, and its profile is gone afterwards', async () => {
    process.env['LOAM_SECRET_OF_TEST'] = 'hush'
    onTestFinished(() => void delete process.env['LOAM_SECRET_OF_TEST'])
    const browser = createBrowser(programOf('env; ls -d "$HOME"'))
    const drawn = await browser.draw(await fetchingFor(''), 'http://a.example/')
    expect(drawn).toMatchObject({ ok: true, html: expect.stringContaining('loam-browser-') })
    expect(drawn).toMatchObject({ html: expect.not.stringContaining('LOAM_SECRET') })
    expect(profiles()).toEqual([])
  })

  it('is ended with all that it started when nobody waits any more', async () => {
    const ending = new AbortController()
    const fetching = { ...(await fetchingFor('')), signal: ending.signal }
    const drawing = createBrowser(programOf('sleep 1000 & sleep 1000')).draw(fetching, 'http://a.example/')
    await expect.poll(profiles).toHaveLength(1)
    ending.abort()
    expect(await drawing).toMatchObject({ ok: false })
    expect(profiles()).toEqual([])
  })

  it.each([
    ['says too much', 'yes | head -c 9000000', 'too large'],
    ['says nothing', 'exit 3', 'ended with 3'],
  ])('that %s is a failure that says so', async (_name, script, message) => {
    const drawn = await createBrowser(programOf(script)).draw(await fetchingFor(''), 'http://a.example/')
    expect(drawn).toMatchObject({ ok: false, message: expect.stringContaining(message) })
  })

  it('that takes more memory than it may is ended', async () => {
    const browser = createBrowser(programOf('sleep 1000'), { maxMemoryBytes: 1000 })
    const drawn = await browser.draw(await fetchingFor(''), 'http://a.example/')
    expect(drawn).toMatchObject({ ok: false, message: expect.stringContaining('too much memory') })
  })

  it('that is not there is a failure that says so', async () => {
    const drawn = await createBrowser('/no/such/browser').draw(await fetchingFor(''), 'http://a.example/')
    expect(drawn).toMatchObject({ ok: false, message: expect.stringContaining('cannot be started') })
  })
})
