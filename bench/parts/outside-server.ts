// Serves the outside world in its own process, which responds at once: an API, a provider of emails, a model,
// a page. Prints its address.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { READY } from '#server/lib/log-lines.ts'

const company = { company: 'Acme', employees: 120, industry: 'software', city: 'Berlin' }
const finding = { data: { email: 'ada@acme.example', score: 97, verification: { status: 'valid' } } }
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: JSON.stringify({ score: 7, reason: 'solid' }) },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
}
const ANSWERS = new Map(
  Object.entries({
    '/company': company,
    '/v2/email-finder': finding,
    '/v1/chat/completions': completion,
  }).map(([path, answer]) => [path, Buffer.from(JSON.stringify(answer))]),
)

const PARAGRAPH = '<p>Acme makes anvils in Berlin for smiths who care about their tools.</p>'
const PAGE = Buffer.from(
  `<!doctype html><title>Acme</title><main><h1>Acme</h1>${PARAGRAPH.repeat(20)}<a href="/about">About</a></main>`,
)

let calls = 0
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const [path = ''] = (request.url ?? '').split('?')
  const isPage = path === '/page'
  const known = isPage ? PAGE : ANSWERS.get(path)
  const body = known ?? Buffer.from(JSON.stringify({ calls }))
  if (known !== undefined) calls += 1
  request.resume().once('end', () => {
    response.writeHead(200, {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json',
      'content-length': body.length,
    })
    response.end(body)
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
await once(server, 'listening')
process.stdout.write(`${READY} http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
