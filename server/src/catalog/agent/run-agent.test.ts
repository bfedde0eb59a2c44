import { describe, expect, it } from 'vitest'
import { useAgent } from '../testing/agent.ts'
import { type ChatBody, type ChatReply, serveChat } from '../testing/chat-server.ts'
import { serveSite } from '../testing/site-server.ts'
import { createPageReaders } from './page-reader.ts'
import type { AgentField } from './task.ts'

const run = useAgent()

const FIELDS: AgentField[] = [
  { name: 'employees', type: 'integer', description: 'How many people work there.' },
  { name: 'founder', type: 'string', description: '' },
]
const ABOUT =
  '<title>About Acme</title><main><p>Acme was founded by Ada Byron. 1,250 people work at Acme today.</p></main>'
const source = (page: number, quote: string) => ({ page, quote })
const GOOD = {
  employees: { value: 1250, sources: [source(1, '1,250 people work at Acme')], reason: null },
  founder: { value: 'Ada Byron', sources: [source(1, 'founded by Ada Byron')], reason: null },
}

const isAnswering = (body: ChatBody) => JSON.stringify(body.messages[0]).includes('You answer from pages')
const printConversation = (body: ChatBody) => body.messages.map(({ content }) => content ?? '').join('\n')

/** Scripts a model that takes the steps in turn and then answers. */
function script(steps: ChatReply[], answer: object) {
  let done = 0
  return (body: ChatBody): ChatReply =>
    isAnswering(body) ? { says: JSON.stringify(answer) } : (steps[done++] ?? { says: 'That is all.' })
}

const read = (url: string): ChatReply => ({
  calls: [{ name: 'read_page', input: { url, looking_for: 'employees' } }],
})

describe('the agent', () => {
  it('reads a site that the task names, and answers with quotes from its pages', async () => {
    const { origin } = await serveSite({ '/about': ABOUT })
    const { url: modelUrl, bodies } = await serveChat(script([read(`${origin}/about`)], GOOD))
    const result = await run({ mission: `Who founded ${origin}?`, fields: FIELDS }, { modelUrl })
    expect(result).toMatchObject({
      kind: 'answered',
      answer: {
        data: { employees: 1250, founder: 'Ada Byron' },
        citations: [
          {
            url: `${origin}/about`,
            title: 'About Acme',
            quote: '1,250 people work at Acme',
            field: 'employees',
          },
          { url: `${origin}/about`, title: 'About Acme', quote: 'founded by Ada Byron', field: 'founder' },
        ],
        findings: { employees: { confidence: 0.6, reason: null } },
      },
      spent: { pages: 1, steps: 2 },
      trace: { ended_by: null },
    })
    expect(bodies[0]?.tools).toHaveLength(2)
    expect(bodies.at(-1)?.tools).toBeUndefined()
  })

  it('searches first if the task names no site, and may read the results and pages with usual names on their hosts', async () => {
    const site = await serveSite({ '/': '<title>Acme</title><p>We make anvils.</p>', '/about': ABOUT })
    const engine = await serveSite({
      '/search?format=json&q=Acme': {
        type: 'application/json',
        body: JSON.stringify({ results: [{ url: `${site.origin}/`, title: 'Acme', content: 'anvils' }] }),
      },
    })
    const steps: ChatReply[] = [
      { calls: [{ name: 'search', input: { query: 'Acme' } }] },
      read(`${site.origin}/`),
      read(`${site.origin}/about`),
      read(`${site.origin}/collect?who=ada`),
    ]
    const answer = {
      ...GOOD,
      employees: { ...GOOD.employees, sources: [source(2, '1,250 people work')] },
      founder: { ...GOOD.founder, sources: [source(2, 'founded by Ada Byron')] },
    }
    const { url: modelUrl } = await serveChat(script(steps, answer))
    const result = await run(
      { mission: 'Who founded Acme?', fields: FIELDS },
      { modelUrl, searchUrl: engine.origin },
    )
    expect(result).toMatchObject({
      kind: 'answered',
      answer: { data: { employees: 1250, founder: 'Ada Byron' } },
    })
    expect(site.requests.filter((path) => !/\/(robots\.txt|sitemap\.xml)$/.test(path))).toEqual([
      '/',
      '/about',
    ])
    expect(result.trace.steps).toContainEqual(expect.objectContaining({ kind: 'refused' }))
  })

  it('answers null with a reason if the quote is not on the page, or the page was never read', async () => {
    const { origin } = await serveSite({ '/about': ABOUT })
    const answer = {
      employees: { value: 9000, sources: [source(1, '9,000 people work at Acme')], reason: null },
      founder: { value: 'Ada Byron', sources: [source(7, 'founded by Ada Byron')], reason: null },
    }
    const { url: modelUrl } = await serveChat(script([read(`${origin}/about`)], answer))
    const result = await run({ mission: `Look at ${origin}`, fields: FIELDS }, { modelUrl })
    expect(result).toMatchObject({
      kind: 'answered',
      answer: {
        data: { employees: null, founder: null },
        citations: [],
        findings: { employees: { confidence: 0, reason: 'no page that was read supports a value' } },
      },
    })
  })

  it('answers null for everything if no page could be read, without asking the model to write', async () => {
    const { url: modelUrl, bodies } = await serveChat(script([], {}))
    const result = await run({ mission: 'Who founded Acme?', fields: FIELDS }, { modelUrl })
    expect(result).toMatchObject({
      kind: 'answered',
      answer: { data: { employees: null, founder: null }, citations: [] },
    })
    expect(bodies.some(isAnswering)).toBe(false)
  })

  it('lets the model correct an answer of the wrong type once', async () => {
    const { origin } = await serveSite({ '/about': ABOUT })
    let answers = 0
    const { url: modelUrl } = await serveChat((body, turn) => {
      if (!isAnswering(body)) return turn === 1 ? read(`${origin}/about`) : { says: 'done' }
      answers += 1
      const wrong = { ...GOOD, employees: { ...GOOD.employees, value: 'many' } }
      return { says: JSON.stringify(answers === 1 ? wrong : GOOD) }
    })
    const result = await run({ mission: `Look at ${origin}`, fields: FIELDS }, { modelUrl })
    expect(result).toMatchObject({ kind: 'answered', answer: { data: { employees: 1250 } } })
    expect(answers).toBe(2)
  })

  it('writes the answer from the pages read so far when a limit is reached', async () => {
    const { origin } = await serveSite({ '/about': ABOUT })
    const steps = Array.from({ length: 50 }, () => read(`${origin}/about`))
    const { url: modelUrl } = await serveChat(script(steps, GOOD))
    const result = await run(
      { mission: `Look at ${origin}`, fields: FIELDS },
      { modelUrl, limits: { steps: 3 } },
    )
    expect(result).toMatchObject({
      kind: 'answered',
      answer: { data: { founder: 'Ada Byron' } },
      trace: { ended_by: 'steps' },
      spent: { steps: 3 },
    })
  })

  it('works with a model that cannot call tools', async () => {
    const { origin } = await serveSite({ '/about': ABOUT })
    const { url: modelUrl, bodies } = await serveChat((body) => {
      if (body.tools !== undefined) return { status: 400, message: 'this model does not support tools' }
      if (isAnswering(body)) return { says: JSON.stringify(GOOD) }
      if (printConversation(body).includes('1,250 people'))
        return { says: '{"tool": "finish", "summary": "found"}' }
      return { says: `I will read it.\n\`\`\`json\n{"tool": "read_page", "url": "${origin}/about"}\n\`\`\`` }
    })
    const result = await run({ mission: `Look at ${origin}`, fields: FIELDS }, { modelUrl })
    expect(result).toMatchObject({ kind: 'answered', answer: { data: { employees: 1250 } } })
    expect(bodies[0]?.tools).toHaveLength(2)
  })

  it('reports the error of the model server if it fails before any page was read', async () => {
    const { url: modelUrl } = await serveChat(() => ({ status: 401, message: 'bad key' }))
    const result = await run({ mission: 'Who?', fields: FIELDS }, { modelUrl })
    expect(result).toMatchObject({
      kind: 'failed',
      retryable: false,
      message: expect.stringContaining('refused the key'),
    })
  })

  it('ends at its deadline, and when nothing waits for it any more', async () => {
    const { url: modelUrl } = await serveChat(() => read('http://127.0.0.1:1/'))
    const late = await run({ mission: 'Who?', fields: FIELDS }, { modelUrl, limits: { totalMs: 1 } })
    expect(late.kind).toBe('timeout')
    const signal = AbortSignal.abort()
    const cancelled = await run({ mission: 'Who?', fields: FIELDS }, { modelUrl, signal })
    expect(cancelled.kind).toBe('called_off')
  })

  it('reads a page once for all callers while it is cached', async () => {
    const site = await serveSite({ '/about': ABOUT })
    const reader = createPageReaders({ keepSeconds: 60 }).of('a test')
    for (const cached of [false, true]) {
      const { url: modelUrl } = await serveChat(script([read(`${site.origin}/about`)], GOOD))
      const result = await run({ mission: `Look at ${site.origin}`, fields: FIELDS }, { modelUrl, reader })
      expect(result.trace.steps).toContainEqual(expect.objectContaining({ kind: 'page', cached }))
    }
    expect(site.requests.filter((path) => path === '/about')).toHaveLength(1)
  })

  it('counts the hosts that agree: two sites give a higher confidence than one', async () => {
    const one = await serveSite({ '/about': ABOUT })
    const other = await serveSite({ '/': '<title>Register</title><p>Acme has 1,250 employees.</p>' })
    const answer = {
      ...GOOD,
      employees: {
        value: 1250,
        sources: [source(1, '1,250 people work'), source(2, 'has 1,250 employees')],
        reason: null,
      },
    }
    const { url: modelUrl } = await serveChat(
      script([read(`${one.origin}/about`), read(`${other.origin}/`)], answer),
    )
    const result = await run(
      { mission: `Look at ${one.origin} and ${other.origin}`, fields: FIELDS },
      { modelUrl },
    )
    expect(result).toMatchObject({
      answer: { findings: { employees: { confidence: 0.8 }, founder: { confidence: 0.6 } } },
    })
  })
})
