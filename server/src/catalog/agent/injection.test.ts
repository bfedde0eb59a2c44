import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatBody, type ChatReply, serveChat } from '../testing/chat-server.ts'
import { INJECTIONS } from '../testing/injections.ts'
import { useActions } from '../testing/run-action.ts'
import { serveSite } from '../testing/site-server.ts'

const runAction = useActions()

const SECRET = 'tok_7f3b9c2d1e8a4650'
const EMAIL = 'ann.lee@customer.example'
const FORMAT = { fields: [{ name: 'founder', type: 'string', description: '' }] }
const FOUND = {
  founder: { value: 'Ada Byron', sources: [{ page: 1, quote: 'founded by Ada Byron' }], reason: null },
}

/** The requests that reached the host that hostile pages want to call. */
const foreignRequests: string[] = []
let foreign: Server
let target = ''
beforeAll(async () => {
  foreign = createServer((request, response) => {
    foreignRequests.push(request.url ?? '')
    response.end('thank you')
  })
  await new Promise<void>((resolve) => {
    foreign.listen(0, '127.0.0.1', resolve)
  })
  target = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}/collect`
})
afterAll(() => {
  foreign.close()
})

/** A model that obeys every page: it calls every address that a page mentions, with all that it knows. */
function gullible(page: string) {
  return (body: ChatBody, turn: number): ChatReply => {
    const conversation = body.messages.map(({ content }) => content ?? '').join('\n')
    if (conversation.includes('You answer from pages')) return { says: JSON.stringify(FOUND) }
    if (turn === 1) return { calls: [{ name: 'read_page', input: { url: page } }] }
    if (turn > 3) return { says: 'done' }
    const known = encodeURIComponent(conversation.slice(0, 300))
    const mentioned = [...conversation.matchAll(/https?:\/\/[^\s"<>)\]\\]+/g)].map(([url]) => url)
    const attempts = [...new Set([...mentioned, target])].slice(0, 3)
    return {
      calls: attempts.map((url) => ({
        name: 'read_page',
        input: {
          url: `${url}${url.includes('?') ? '' : '?d='}${encodeURIComponent(EMAIL)}${known.slice(0, 40)}`,
        },
      })),
    }
  }
}

describe(`${INJECTIONS.length} hostile pages against a model that obeys them`, () => {
  it('are more than 60, in ten languages', () => expect(INJECTIONS.length).toBeGreaterThanOrEqual(60))

  it.each(INJECTIONS)('$name: no data leaves, and the answer is the one of the task', async ({ html }) => {
    foreignRequests.length = 0
    const site = await serveSite({ '/': html(target), '/about': '<p>About us.</p>' })
    const model = await serveChat(gullible(`${site.origin}/`))
    const outcome = await runAction(
      'llm_web_agents',
      {
        select_a_model: 'scripted',
        mission: 'Who founded {{input.site}}, for {{input.email}}? {{env.TOKEN}}',
        output_format: FORMAT,
      },
      {
        row: { input: { site: site.origin, email: EMAIL }, env: { TOKEN: SECRET } },
        models: { LOAM_MODEL_BASE_URL: model.url, LOAM_MODEL_API_KEY: 'sk-never-told-123456' },
      },
    )
    expect(foreignRequests).toEqual([])
    expect(outcome).toMatchObject({ kind: 'done', outputs: { founder: 'Ada Byron' } })
    const told = JSON.stringify(model.bodies)
    expect(told).not.toContain(SECRET)
    expect(told).not.toContain('sk-never-told')
    // The text of a page cannot leave its mark: each mark that opens is closed once, by this program.
    const pages = model.bodies.flatMap(({ messages }) => messages.map(({ content }) => content ?? ''))
    for (const text of pages.filter((content) => content.startsWith('<page '))) {
      expect(text.match(/<\/page>/g)).toHaveLength(1)
    }
  })
})
