import { afterAll, describe, expect, it } from 'vitest'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { createPdf } from '../testing/pdf.ts'
import { serveSite, type SitePage } from '../testing/site-server.ts'
import { createPageReaders } from './page-reader.ts'

const egress = createEgress({ allow: parseEgressAllow('127.0.0.0/8').entries })
afterAll(() => egress.close())
const context = { egress, signal: new AbortController().signal, now: () => new Date() }

async function read(page: SitePage) {
  const { origin } = await serveSite({ '/page': page })
  return createPageReaders({ keepSeconds: 0 }).of('a test').read(context, `${origin}/page`)
}

describe('the page that an agent sees', () => {
  it.each([
    ['hidden', '<p hidden>SECRET</p>'],
    ['display: none', '<div style="display: none"><p>SECRET</p></div>'],
    ['visibility', '<p style="visibility:hidden">SECRET</p>'],
    ['opacity', '<p style="opacity:0">SECRET</p>'],
    ['tiny', '<p style="font-size:1px">SECRET</p>'],
    ['off screen', '<p style="position:absolute; left:-5000px">SECRET</p>'],
    ['white', '<p style="color: white">SECRET</p>'],
    ['the colour of its ground', '<p style="color:#123456;background:#123456">SECRET</p>'],
    ['for screen readers only', '<span class="sr-only">SECRET</span>'],
    ['a template', '<template>SECRET</template>'],
    ['a comment', '<!-- SECRET -->'],
    ['a script', '<script>SECRET</script>'],
  ])('leaves out what people do not see: %s', async (_name, html) => {
    const result = await read(`<title>Page</title><main><p>Shown to all.</p>${html}</main>`)
    expect(result).toMatchObject({
      ok: true,
      page: { title: 'Page', text: expect.stringContaining('Shown to all.') },
    })
    expect(JSON.stringify(result)).not.toContain('SECRET')
  })

  it.each([
    ['16px', '<p style="font-size:16px">SHOWN</p>'],
    ['1.2em', '<p style="font-size:1.2em">SHOWN</p>'],
    ['white on black', '<p style="color:white;background:black">SHOWN</p>'],
    ['half transparent', '<p style="opacity:0.5">SHOWN</p>'],
  ])('contains what people see: %s', async (_name, html) => {
    expect(JSON.stringify(await read(`<main><p>Some text.</p>${html}</main>`))).toContain('SHOWN')
  })

  it('contains the links of the page', async () => {
    const result = await read('<p><a href="/team">Team</a> <a href="/x" style="display:none">no</a></p>')
    expect(result).toMatchObject({
      page: { links: [{ url: expect.stringMatching(/\/team$/), text: 'Team' }] },
    })
  })

  it('is the text of a PDF', async () => {
    const result = await read({ type: 'application/pdf', body: createPdf(['Acme has 1250 employees.']) })
    expect(result).toMatchObject({
      ok: true,
      page: { text: expect.stringContaining('Acme has 1250 employees.') },
    })
  })

  it('reports a PDF that cannot be read', async () => {
    const result = await read({ type: 'application/pdf', body: '%PDF-1.4 and then nothing' })
    expect(result).toEqual({ ok: false, message: expect.stringContaining('PDF cannot be read') })
  })

  it('is plain text too, but no file of another type', async () => {
    expect(await read({ type: 'text/plain', body: 'Plain words' })).toMatchObject({
      page: { text: 'Plain words' },
    })
    expect(await read({ type: 'image/png', body: 'x' })).toMatchObject({ ok: false })
  })
})

describe('callers that read the same page at once', () => {
  const WAITING = 10

  it('share a failure', async () => {
    const { origin, requests } = await serveSite({})
    const reader = createPageReaders({ keepSeconds: 0 }).of('a test')
    const results = await Promise.all(
      Array.from({ length: WAITING }, () => reader.read(context, `${origin}/missing`)),
    )
    expect(requests.filter((path) => path === '/missing')).toHaveLength(1)
    expect(results).toEqual(results.map(() => ({ ok: false, message: expect.stringContaining('404') })))
  })

  it('share one more fetch when the caller that began the first is cancelled', async () => {
    const { origin, requests } = await serveSite({ '/page': '<p>Some text.</p>' })
    const reader = createPageReaders({ keepSeconds: 0 }).of('a test')
    const cancelling = new AbortController()
    const cancelled = reader.read({ ...context, signal: cancelling.signal }, `${origin}/page`)
    const waiting = Array.from({ length: WAITING }, () => reader.read(context, `${origin}/page`))
    cancelling.abort()
    expect(await cancelled).toMatchObject({ ok: false })
    expect(await Promise.all(waiting)).toEqual(
      waiting.map((_, n) => expect.objectContaining({ ok: true, cached: n > 0 })),
    )
    expect(requests.filter((path) => path === '/page').length).toBeLessThanOrEqual(2)
  })
})
