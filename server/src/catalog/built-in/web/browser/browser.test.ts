import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { CHROMIUM } from '#test/plumbing/chromium.ts'
import { parseEgressAllow } from '../../../../lib/egress/addresses.ts'
import { createEgress } from '../../../../lib/egress/egress.ts'
import { createPageReaders } from '../../../agent/page-reader.ts'
import { useActions } from '../../../testing/run-action.ts'
import { serveSite } from '../../../testing/site-server.ts'
import { type Bounds, createBrowserPool } from './browser.ts'
import { findPrivileges } from './privileges.ts'

const runAction = useActions()

/** The bounds of the tests, so wide that no test depends on the speed of a page. */
const PATIENT = { timeoutMs: 280_000, settleMs: 200_000, waitMs: 280_000 }
vi.setConfig({ testTimeout: 300_000 })

/** Creates a pool whose Chromiums keep their home directories, and any leftovers, in a separate folder. */
function makePool(bounds: Partial<Bounds> = {}, path = CHROMIUM) {
  const place = mkdtempSync(join(tmpdir(), 'loam-drawing-'))
  // Chromium runs as another user if the tests run as root.
  chmodSync(place, 0o755)
  const pool = createBrowserPool(path, { ...PATIENT, ...bounds })
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.0/8').entries })
  const fetching = { egress, signal: new AbortController().signal, now: () => new Date() }
  return {
    place,
    pool,
    fetching,
    draw: async (url: string) => {
      const usual = process.env['TMPDIR']
      process.env['TMPDIR'] = place
      const drawn = await pool.of('a test').draw(fetching, url)
      if (usual === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = usual
      return drawn
    },
    close: async () => {
      await Promise.all([pool.close(), egress.close()])
      rmSync(place, { recursive: true, force: true })
    },
  }
}

function openPool(bounds: Partial<Bounds> = {}, path = CHROMIUM) {
  const opened = makePool(bounds, path)
  onTestFinished(opened.close)
  return opened
}

const shared = makePool()
afterAll(shared.close)

/** Lists the Chromiums with their home in a folder: their main processes, or all processes. */
function processes(kind: 'main' | 'all', place: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${place}/loam-browser-`))
          return false
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return kind === 'all' || (command.includes('--remote-debugging-pipe') && !command.includes('--type='))
      } catch {
        // The process has ended meanwhile.
        return false
      }
    })
    .map(Number)
}

const SCRIPTED = `<!doctype html><title>Acme</title><div id="app"></div><script>
  const said = ['Acme was founded by Ada Byron, and ', 6 * 7, ' people work there.']
  document.getElementById('app').innerHTML = '<main><p>' + said.join('') + '</p></main>'
</script>`
const SAID = 'founded by Ada Byron, and 42 people'
const drawnWith = (text: string) => ({ ok: true, html: expect.stringContaining(text) })
const refusedWith = (text: string) => ({ ok: false, message: expect.stringContaining(text) })

describe('a page that needs scripts', () => {
  it('is rendered for scrape_website with render: browser, and not without', async () => {
    const { origin } = await serveSite({ '/': SCRIPTED })
    const drawn = await runAction('scrape_website', { url: origin, render: 'browser' }, { browser: CHROMIUM })
    expect(drawn).toMatchObject({ kind: 'done', outputs: { markdown: expect.stringContaining(SAID) } })
    const sent = await runAction('scrape_website', { url: origin }, { browser: CHROMIUM })
    expect(sent).toMatchObject({ kind: 'done', outputs: { markdown: expect.not.stringContaining(SAID) } })
  })

  it('is rendered for the agent if it has almost no text otherwise', async () => {
    const words = `<main><p>${'Words that are there. '.repeat(20)}</p></main>${SCRIPTED}`
    const site = await serveSite({ '/app': SCRIPTED, '/words': words })
    const { pool, fetching } = shared
    const reader = createPageReaders({ keepSeconds: 0, browsers: pool }).of('a test')
    const read = await reader.read(fetching, `${site.origin}/app`)
    expect(read).toMatchObject({ ok: true, page: { text: expect.stringContaining(SAID) } })
    expect(site.requests.filter((asked) => asked === '/app')).toHaveLength(2)
    await reader.read(fetching, `${site.origin}/words`)
    expect(site.requests.filter((asked) => asked === '/words')).toHaveLength(1)
  })

  it('is rendered with the data that it fetches, and sees nothing of the previous page', async () => {
    const page = `<p id="p"></p><script>
      fetch('/later').then((reply) => reply.text()).then((text) => {
        document.getElementById('p').textContent = text + '|' + document.cookie + localStorage.getItem('seen')
        document.cookie = 'seen=1'
        localStorage.setItem('seen', 'yes')
      })</script>`
    const site = await serveSite({ '/': page, '/later': 'loaded later' })
    const { draw, place } = openPool()
    expect(await draw(`${site.origin}/`)).toMatchObject(drawnWith('loaded later|null'))
    const [first] = processes('main', place)
    expect(await draw(`${site.origin}/`)).toMatchObject(drawnWith('loaded later|null'))
    expect(processes('main', place)).toEqual([first])
  })
})

describe('the Chromium of a process', () => {
  it('gets none of its settings, is restarted when it is killed, and ends with it', async () => {
    process.env['LOAM_SECRET_OF_TEST'] = 'hush'
    onTestFinished(() => void delete process.env['LOAM_SECRET_OF_TEST'])
    const { pool, draw, place } = openPool()
    let asked = 0
    const site = await serveHttp((_request, response) => {
      asked += 1
      const [main = 0] = processes('main', place)
      // The page that it was rendering is rendered all the same.
      if (asked === 1) process.kill(main, 'SIGKILL')
      else response.writeHead(200, { 'content-type': 'text/html' }).end(SCRIPTED)
    })
    expect(await draw(`${site.origin}/`)).toMatchObject(drawnWith(SAID))
    expect(asked).toBe(2)
    const [main = 0] = processes('main', place)
    expect(readFileSync(`/proc/${main}/environ`, 'utf8')).not.toContain('LOAM_SECRET')
    await pool.close()
    await expect.poll(() => processes('all', place)).toEqual([])
    expect(readdirSync(place)).toEqual([])
    expect(await draw(`${site.origin}/`)).toMatchObject({ ok: false })
    expect(processes('all', place)).toEqual([])
  })

  it.each([
    ['when it has had nothing to do for a while', { idleMs: 1 }],
    ['after so many pages', { maxPages: 1 }],
  ])('ends %s', async (_name, bounds) => {
    const site = await serveSite({ '/': SCRIPTED })
    const { draw, place } = openPool(bounds)
    expect(await draw(`${site.origin}/`)).toMatchObject(drawnWith(SAID))
    await expect.poll(() => processes('all', place)).toEqual([])
  })

  it('does not outlive a process that is killed', async () => {
    const home = mkdtempSync(join(tmpdir(), 'loam-killed-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const program = `
      const { createBrowserPool } = await import('#server/catalog/built-in/web/browser/browser.ts')
      const { createEgress } = await import('#server/lib/egress/egress.ts')
      const fetching = { egress: createEgress({ allow: [] }), signal: new AbortController().signal, now: () => new Date() }
      await createBrowserPool(process.argv[1]).of('a').draw(fetching, 'http://127.0.0.1:1/')
      process.stdout.write('drawn')`
    const args = ['--input-type=module', '-e', program, CHROMIUM]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, TMPDIR: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    expect(processes('main', home)).toHaveLength(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => processes('all', home)).toEqual([])
  })

  it('fails with a clear message if it is missing', async () => {
    const { draw } = openPool({}, '/no/such/browser')
    expect(await draw('http://127.0.0.1:1/')).toMatchObject(refusedWith('cannot be started'))
  })
})

describe('F68: Chromium', () => {
  const fieldOf = (pid: number, file: string, name: string) =>
    new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]

  it('never runs as root, and uses its sandbox if the kernel allows it', async () => {
    const site = await serveSite({ '/': SCRIPTED })
    const { draw, place } = openPool()
    expect(await draw(`${site.origin}/`)).toMatchObject(drawnWith(SAID))
    const { account, hasSandbox } = await findPrivileges(CHROMIUM)
    const found = processes('all', place)
    expect(found.length).toBeGreaterThan(0)
    const expected = account?.uid ?? process.getuid?.()
    expect(expected).not.toBe(0)
    expect(new Set(found.map((pid) => fieldOf(pid, 'status', 'Uid')))).toEqual(new Set([String(expected)]))
    const commands = found.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    expect(commands.some((command) => command.includes('--no-sandbox'))).toBe(!hasSandbox)
  })

  it('reports the privileges that it lacks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'loam-closed-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    if (process.getuid?.() !== 0) return expect((await findPrivileges(CHROMIUM)).account).toBeNull()
    expect(await findPrivileges(join(folder, 'chromium'))).toEqual({
      account: null,
      hasSandbox: false,
      lacks: expect.stringContaining('runs as root without its sandbox: the user nobody cannot reach'),
    })
  })
})

describe('a page is limited', () => {
  it('in time: a page that never ends fails, and others are rendered after it', async () => {
    const site = await serveSite({ '/': SCRIPTED, '/endless': '<script>for (;;) {}</script>' })
    const ending = new AbortController()
    const { pool, fetching, draw } = shared
    const endless = pool.of('a').draw({ ...fetching, signal: ending.signal }, `${site.origin}/endless`)
    await expect.poll(() => site.requests).toContain('/endless')
    const next = draw(`${site.origin}/`)
    ending.abort()
    expect(await endless).toMatchObject(refusedWith('took too long'))
    expect(await next).toMatchObject(drawnWith(SAID))
  })

  it('in its wait: a page that waits too long must be retried', async () => {
    const site = await serveHttp(() => undefined)
    const ending = new AbortController()
    const { pool, fetching, draw } = openPool({ maxAtOnce: 1, waitMs: 1 })
    const first = pool.of('a').draw({ ...fetching, signal: ending.signal }, `${site.origin}/`)
    await expect.poll(site.accepted).toBe(1)
    expect(await draw(`${site.origin}/`)).toMatchObject({ ok: false, later: true })
    ending.abort()
    await first
  })

  it('in requests and in bytes: the rest is not loaded', async () => {
    const page = `<p id="p"></p><script>
      const ask = (n) => fetch('/part' + n).then((reply) => reply.text()).then(() => 1, () => 0)
      Promise.all(Array.from({ length: 20 }, (_, n) => ask(n))).then((all) => {
        document.getElementById('p').textContent = 'Loaded: ' + all.reduce((sum, one) => sum + one, 0) + '.'
      })</script>`
    const parts = Array.from({ length: 20 }, (_, n): [string, string] => [`/part${n}`, 'x'.repeat(100_000)])
    const site = await serveSite({ '/': page, ...Object.fromEntries(parts) })
    const loaded = async (bounds: Partial<Bounds>) => {
      const { draw } = Object.keys(bounds).length === 0 ? shared : openPool(bounds)
      const drawn = await draw(`${site.origin}/`)
      return Number(drawn.ok ? /Loaded: (\d+)\./.exec(drawn.html)?.[1] : Number.NaN)
    }
    expect(await loaded({})).toBe(20)
    expect(await loaded({ maxRequests: 5 })).toBe(4)
    expect(await loaded({ maxBytes: 500_000 })).toBeLessThan(20)
  })

  it('in size: a document that is too large fails with a clear message', async () => {
    const huge = `<script>document.write('<p>' + 'x'.repeat(6e6) + '</p>')</script>`
    const site = await serveSite({ '/': huge })
    expect(await shared.draw(`${site.origin}/`)).toMatchObject(refusedWith('too large'))
  })

  it('in memory: it loses its process, and another page does not', async () => {
    const greedy = `<script>
      const kept = []
      const take = () => { kept.push(new Uint8Array(32e6).fill(1)); setTimeout(take, 1) }
      take()
      fetch('/never')</script>`
    const slow: ServerResponse[] = []
    const site = await serveHttp((request, response) => {
      const answer = (html: string) => response.writeHead(200, { 'content-type': 'text/html' }).end(html)
      if (request.url === '/greedy') answer(greedy)
      if (request.url === '/patient') answer(`<script>fetch('/slow')</script>${SCRIPTED}`)
      if (request.url === '/slow') slow.push(response)
    })
    const { pool, fetching, draw } = openPool({ maxProcessBytes: 600_000_000 })
    const patient = pool.of('another').draw(fetching, `${site.origin}/patient`)
    expect(await draw(`${site.origin}/greedy`)).toMatchObject(refusedWith('too much memory'))
    await expect.poll(() => slow).toHaveLength(1)
    slow[0]?.end()
    expect(await patient).toMatchObject(drawnWith(SAID))
  })

  it('in the memory of all pages: a page that is lost twice fails with a clear message', async () => {
    const silent = await serveHttp(() => undefined)
    const { draw } = openPool({ maxMemoryBytes: 1 })
    expect(await draw(`${silent.origin}/`)).toMatchObject(refusedWith('too much memory'))
  })
})
