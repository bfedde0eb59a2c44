import { describe, expect, it } from 'vitest'
import { useAgent } from '../testing/agent.ts'
import { type ChatBody, type ChatReply, serveChat } from '../testing/chat-server.ts'
import { serveSite } from '../testing/site-server.ts'
import { readFindings } from './findings.ts'
import type { AgentField } from './task.ts'

const FIELDS: AgentField[] = [
  { name: 'founder', type: 'string', description: '' },
  { name: 'employees', type: 'integer', description: '' },
]
const URLS = ['https://acme.example/about', 'https://acme.example/team?page=2']

describe('D97: answers of models are read leniently', () => {
  it.each<[unknown, unknown]>([
    [2, 2],
    ['2', 2],
    [' 2 ', 2],
    ['[2]', 2],
    [[2], 2],
    [['2'], 2],
    ['https://acme.example/about', 1],
    ['https://acme.example/about/#history', 1],
    ['http://acme.example/team?page=2', 2],
    // A page that was not read supports no value.
    ['https://elsewhere.example/', 0],
    // A value that names no page is asked for again.
    ['the second page', 'the second page'],
    [null, null],
    [
      [1, 2],
      [1, 2],
    ],
  ])('page %j is %j', (page, read) => {
    const given = { founder: { value: 'Ada', sources: [{ page, quote: 'by Ada' }], reason: null } }
    expect(readFindings(given, FIELDS, URLS)).toEqual({
      founder: { value: 'Ada', sources: [{ page: read, quote: 'by Ada' }], reason: null },
    })
  })

  const NOTHING = { value: null, sources: [], reason: null }
  it.each<[string, unknown, unknown]>([
    ['a plain value', 'Ada', NOTHING],
    ['a plain list', ['Ada'], NOTHING],
    ['an object of other keys', { first: 'Ada' }, NOTHING],
    ['null', null, NOTHING],
    ['a value alone', { value: 'Ada' }, NOTHING],
    ['null for sources and reason', { value: null, sources: null, reason: null }, NOTHING],
    ['a reason', { value: null, reason: 'not said' }, { ...NOTHING, reason: 'not said' }],
    [
      'one source, not a list, and keys that nobody asked for',
      { value: 'Ada', sources: { page: '1', quote: 'by Ada', score: 1 }, confidence: 0.9 },
      { value: 'Ada', sources: [{ page: 1, quote: 'by Ada' }], reason: null },
    ],
  ])('%s', (_what, given, read) => {
    expect(readFindings({ founder: given, more: 1 }, FIELDS, URLS)).toEqual({ founder: read })
  })

  it('null for everything means "not found", and an answer that is no object is asked for again', () => {
    expect(readFindings(null, FIELDS, URLS)).toEqual({ founder: NOTHING, employees: NOTHING })
    expect(readFindings('Ada', FIELDS, URLS)).toBe('Ada')
  })
})

describe('D97: what a model server sends', () => {
  const run = useAgent()
  const ABOUT =
    '<title>About Acme</title><main><p>Acme was founded by Ada Byron. 1,250 people work at Acme today.</p></main>'
  const isAnswering = (body: ChatBody) => JSON.stringify(body.messages[0]).includes('You answer from pages')

  /** Makes the model read the page, then give these answers in turn. */
  async function ask(answers: (origin: string) => string[]) {
    const { origin } = await serveSite({ '/about': ABOUT })
    const given = answers(origin)
    let done = 0
    const { url: modelUrl, bodies } = await serveChat((body, turn): ChatReply => {
      if (isAnswering(body)) return { says: given[done++] ?? 'nothing more' }
      const input = { url: `${origin}/about`, looking_for: 'employees' }
      return turn === 1 ? { calls: [{ name: 'read_page', input }] } : { says: 'done' }
    })
    const result = await run({ mission: `Look at ${origin}/about`, fields: FIELDS }, { modelUrl })
    return { result, asked: bodies.filter(isAnswering) }
  }

  it('an answer that takes every liberty at once is read correctly', async () => {
    const { result, asked } = await ask((origin) => [
      [
        'Here is what I found:',
        '```json',
        '{',
        `  "founder": {"value": "Ada Byron", "sources": {"page": "${origin}/about", "quote": "founded by Ada Byron"}, "note": "sure"},`,
        '  "employees": {"value": 1250, "sources": [{"page": "[1]", "quote": "1,250 people work at Acme",},],},',
        '  "comment": "done",',
        '}',
        '```',
      ].join('\n'),
    ])
    expect(result).toMatchObject({
      kind: 'answered',
      answer: { data: { founder: 'Ada Byron', employees: 1250 } },
    })
    expect(asked).toHaveLength(1)
  })

  it('a plain value has no support, and null means not found', async () => {
    const { result, asked } = await ask(() => ['{"founder": "Ada Byron", "employees": null}'])
    expect(result).toMatchObject({
      kind: 'answered',
      answer: { data: { founder: null, employees: null }, citations: [] },
    })
    expect(asked).toHaveLength(1)
  })

  it.each([
    ['a plain value', '"about 1,250"'],
    ['a value without sources', '{"value": "about 1,250", "sources": []}'],
    ['only a reason', '{"reason": "it is not said"}'],
  ])('%s of another type has no support, and is not asked for again', async (_shape, employees) => {
    const { result, asked } = await ask(() => [`{"founder": null, "employees": ${employees}}`])
    expect(result).toMatchObject({ kind: 'answered', answer: { data: { founder: null, employees: null } } })
    expect(asked).toHaveLength(1)
  })

  it('a wrong answer is asked for once more with its faults', async () => {
    const right =
      '{"founder": {"value": "Ada Byron", "sources": [{"page": "1", "quote": "founded by Ada Byron"}]}, "employees": null}'
    const wrong = right.replace('"1"', '"the first page"')
    const { result, asked } = await ask(() => [wrong, right])
    expect(result).toMatchObject({
      kind: 'answered',
      answer: { data: { founder: 'Ada Byron', employees: null } },
    })
    expect(asked).toHaveLength(2)
    expect(asked[1]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content: wrong },
      {
        role: 'user',
        content: expect.stringMatching(/does not fit[^]*founder\.sources\[0\]\.page[^]*number/),
      },
    ])
  })
})
