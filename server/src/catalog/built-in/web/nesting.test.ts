import { describe, expect, it } from 'vitest'
import { readDocument } from './document.ts'
import { toMarkdown } from './markdown.ts'
import { countElements, nestingOf } from './nesting.ts'

const PAGE = {
  url: 'https://example.com/',
  type: 'html' as const,
  headers: {},
  cookies: [],
  bytes: new Uint8Array(),
}

describe('the nesting of elements is known before they are parsed', () => {
  it.each([
    ['<div><span>x</span><b>y</b></div>', 2],
    ['<p>a<p>b<p>c<li>d<br><img src=x>', 0],
    ['<DIV><DIV></DIV></DIV><DIV>', 2],
    ['<script>"<div><div><div>"</script><div>', 1],
    ['<!-- <div><div> --><div>', 1],
    ['<style>a{}</style', 0],
    ['<script>never closed <div><div>', 0],
    ['<svg><path d="M0"/><path d="M1"/><g></g></svg><div></div>', 2],
    ['<div/><div/><div/>', 3],
    ['<svg><div><x/><x/><x/>', 5],
    ['</div></div></div><div>', 1],
    ['<a href="x<y">', 0],
  ])('%s: %i', (html, depth) => {
    expect(nestingOf(html, 'html')).toBe(depth)
  })

  it('in XML a slash closes', () => {
    expect(nestingOf('<rss><item/><item/><p><p></p></p></rss>', 'xml')).toBe(3)
    expect(nestingOf(`<rss ${'a '.repeat(50_000)}>`, 'xml')).toBe(Infinity)
  })

  it.each(['<div>', '<b><i>', '<form><div>', '<x/>', '<svg><foreignObject>'])('%s without end', (part) => {
    expect(nestingOf(part.repeat(100_000), 'html')).toBeGreaterThan(10_000)
  })
})

describe('the number of elements is known before they are parsed', () => {
  it('counts opening tags and nothing else', () => {
    expect(countElements('<p>a<P>b</p><!-- x --><br/> 1 < 2 <3 <é>')).toBe(3)
  })

  it.each([' ', '\n', '&nbsp;', ' \n', '[', '[]('])(
    'a page of %j again and again is made Markdown in time that grows with its length',
    async (part) => {
      const text = `<p>${'word '.repeat(100)}</p><pre>${part.repeat(390_000 / part.length)}x</pre>`
      const read = await readDocument({ ...PAGE, text })
      expect(read.ok && (await toMarkdown(read.document))).toContain('word')
    },
  )

  it('a page of very many elements is refused, in one pass', async () => {
    expect(await readDocument({ ...PAGE, text: '<p>a'.repeat(100_001) })).toEqual({
      ok: false,
      message: 'https://example.com: the page has more than 100,000 elements',
    })
    expect(await readDocument({ ...PAGE, text: '<p>a'.repeat(100) })).toMatchObject({ ok: true })
  })
})
