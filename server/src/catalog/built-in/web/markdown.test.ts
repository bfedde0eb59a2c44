import { describe, expect, it } from 'vitest'
import { readDocument } from './document.ts'
import { toMarkdown } from './markdown.ts'

async function markdownOf(html: string): Promise<string> {
  const read = await readDocument({ url: 'https://a.example/dir/', text: html, headers: {}, cookies: [] })
  if (!read.ok) throw new Error(read.message)
  return toMarkdown(read.document)
}

describe('a page is made Markdown', () => {
  it.each([
    ['headings', '<h1>One</h1><h3>Three <br> lines</h3><h2> </h2>', '# One\n\n### Three lines'],
    ['paragraphs and line breaks', '<p>a<br>b<p>c<br><br><br>d', 'a\nb\n\nc\n\nd'],
    ['blanks', '<p>  a \n\t b&nbsp;c &nbsp; d </p> <p>&nbsp;</p>', 'a b\u00a0c d'],
    ['emphasis', '<p>a<b> b </b>c <i><em>d</em></i> <strong></strong>e', 'a **b** c _d_ e'],
    ['emphasis over blocks', '<b><p>a</p><p>b</p></b>', '**a**\n\n**b**'],
    ['emphasis over a line break', '<p><b>a<br>b<br></b>c', '**a\nb**\nc'],
    ['lists', '<ul><li>a<li>b</ul><ol start=9><li>c<li>d</ol>', '- a\n- b\n\n9.  c\n10.  d'],
    ['lists in lists', '<ul><li>a<ol><li>b<ul><li>c</ul></ol><li>d</ul>', '- a\n    1.  b\n        - c\n- d'],
    ['a list that begins with a list', '<ul><li><ul><li>a<p>b</ul></ul>', '-   - a\n\n        b'],
    ['paragraphs in items', '<ul><li><p>a</p><p>b</p><li><p>c</p></ul>', '- a\n\n    b\n\n- c'],
    ['empty items', '<ol><li>a<li> <li>c</ol>', '1.  a\n3.  c'],
    ['quotations', '<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d', '> a\n>\n> b\n>\n> - c\n\nd'],
    ['neighbouring quotations', '<blockquote>a</blockquote><blockquote>b</blockquote>', '> a\n\n> b'],
    ['rules', 'a<hr>b', 'a\n\n* * *\n\nb'],
    [
      'links',
      '<a href=x>a</a> <a href="mailto:a@b.example">b</a>',
      '[a](https://a.example/dir/x) [b](mailto:a@b.example)',
    ],
    [
      'link titles',
      '<a href="/(x)|y" title=\'a "b"\'>a</a>',
      '[a](https://a.example/\\(x\\)%7Cy "a \\"b\\"")',
    ],
    ['links that lead nowhere', '<a>a</a> <a href="javascript:x">b</a> <a href=x><svg></svg></a>', 'a b'],
    [
      'links around blocks',
      '<a href=x><h2>a</h2><p>b</p></a>',
      '## [a](https://a.example/dir/x)\n\n[b](https://a.example/dir/x)',
    ],
    [
      'images',
      '<img src=a.png alt="a [b]"> <img src=b.png><img alt=c><img data-src=d.png alt=d>',
      '![a \\[b\\]](https://a.example/dir/a.png) ![d](https://a.example/dir/d.png)',
    ],
    [
      'images in links',
      '<a href=x> <img src=a.png alt=a> </a>',
      '[![a](https://a.example/dir/a.png)](https://a.example/dir/x)',
    ],
    ['code', '<p>use <code>a_b</code>, <code>`c`</code><code> </code>', 'use `a_b`, `` `c` ``'],
    [
      'blocks of code',
      '<pre><code class="x language-js">a_b  c\n\n\n\n\n  *d*  \n</code></pre>',
      '```js\na_b  c\n\n  *d*\n```',
    ],
    ['preformatted text', '<pre>\n```\n<b>a</b><br>b</pre>', '````\n```\na\nb\n````'],
    ['code in an item', '<ul><li>a<pre>b\n\nc</pre></ul>', '- a\n\n    ```\n    b\n\n    c\n    ```'],
    [
      'tables',
      '<table><caption>t<thead><tr><th>a<th>b<tbody><tr><td>1|2<td><p>3<p>4</table>',
      't\n\n| a | b |\n| --- | --- |\n| 1/2 | 3 4 |',
    ],
    [
      'tables with code and lists',
      '<table><tr><td><pre>a\nb</pre><td><ul><li>c<li>d</ul></table>',
      '| `a b` | - c - d |\n| --- | --- |',
    ],
    [
      'tables in tables',
      '<table><tr><td>a<table><tr><td>b<td>c</table><td></table>',
      '| a b c |  |\n| --- | --- |',
    ],
    ['emphasis over cells', '<table><tr><td>a<b>b<td>c</table>', '| a**b** | c |\n| --- | --- |'],
    ['characters with a meaning', '<p>*a* [b] `c` d_e \\', '\\*a\\* \\[b\\] \\`c\\` d\\_e \\\\'],
    [
      'characters with a meaning at the start of a line',
      '<p>- a<br>1. b<br># c<br>> d<br>+ e<br>=<br>f - 2. g',
      '\\- a\n1\\. b\n\\# c\n\\> d\n\\+ e\n\\=\nf - 2. g',
    ],
    ['choices', '<select><option>a<option>b</select>c', 'a b c'],
    [
      'what people do not see',
      'a<script>b</script><style>c</style><template>d</template><!-- e --><noscript>f</noscript>',
      'a',
    ],
    ['what is no content', '<nav>a</nav><form>b</form><p hidden>c</p><p aria-hidden=true>d</p>e', 'e'],
    ['frames without any text', '<frameset><frame src=a></frameset>', ''],
  ])('%s', async (_what, html, markdown) => {
    expect(await markdownOf(html)).toBe(markdown)
  })

  const LONG = 'A sentence that fills the page. '.repeat(8)

  it('of its main element, if that is long enough', async () => {
    expect(await markdownOf(`a<main>${LONG}</main>b`)).toBe(LONG.trim())
    expect(await markdownOf(`a<main>b</main>c`)).toBe('a\n\nb\n\nc')
  })

  it('without header, footer and aside, if enough is left', async () => {
    const around = '<header>a</header><aside>b</aside><div role=contentinfo>c</div>'
    expect(await markdownOf(`${around}<div>${LONG}</div>`)).toBe(LONG.trim())
    expect(await markdownOf(`${around}<div>d</div>`)).toBe('a\n\nb\n\nc\n\nd')
  })

  it('of its article, which long paragraphs show', async () => {
    const story = `<div>${`<p>${LONG}, a <a href="/b">link</a></p>`.repeat(4)}</div>`
    const others = `<div>${'<p><a href="/x">Another story</a></p>'.repeat(20)}</div>`
    const markdown = await markdownOf(`<title>Title</title>${story}${others}`)
    expect(markdown).toContain('a [link](https://a.example/b)')
    expect(markdown).not.toContain('Another story')
    // Paragraphs of lists do not make an article.
    const list = `<ul>${`<li><p>${LONG}</p></li>`.repeat(4)}</ul>`
    expect(await markdownOf(`${list}${others}`)).toContain('Another story')
  })

  it.each([
    ['elements in elements', `${'<ul><li><blockquote><b><a href=x>'.repeat(100)}word`],
    ['cells', `<table><tr>${'<td>word'.repeat(50_000)}`],
    ['rows', `<table>${'<tr><td>word'.repeat(30_000)}`],
    ['texts', '<i>word </i>'.repeat(90_000)],
    ['blocks in emphasis', `<i>${'<p>word'.repeat(90_000)}`],
    ['lists that end an item', `<ul><li>word${'<ul></ul>'.repeat(40_000)}${'<!-- x -->'.repeat(40_000)}`],
    ['line breaks', `word${'<br>'.repeat(99_000)}word`],
    ['empty lines of code', `<pre>${'\n \n'.repeat(200_000)}word`],
    ['quotes of code', `<code>word${'` `` '.repeat(200_000)}</code>`],
  ])('in time that grows with the page, with very many %s', async (_what, html) => {
    expect(await markdownOf(html)).toContain('word')
  })
})
