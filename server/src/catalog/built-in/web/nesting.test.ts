import { describe, expect, it } from 'vitest'
import { nestingOf } from './nesting.ts'

describe('how deep elements lie is known before they are parsed', () => {
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
