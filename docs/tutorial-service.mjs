// Stands for two services that a workflow asks, so that the tutorial works without accounts: a register of companies and an
// OpenAI-compatible model. The register refuses Initech until POST /repair, and keeps what is posted to /crm and /hook.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const COMPANIES = {
  'stripe.com': { employees: 8500, country: 'US' },
  'python.org': { employees: 12, country: 'US' },
  'initech.com': { employees: 300, country: 'US' },
}
let repaired = false
const kept = { crm: [], hook: [] }

const routes = {
  'GET /company': ({ query }) => {
    const domain = query.get('domain')
    if (domain === 'initech.com' && !repaired) return [422, { message: 'the record is locked' }]
    const found = COMPANIES[domain]
    return found === undefined ? [404, { message: 'no such company' }] : [200, found]
  },
  'POST /repair': () => {
    repaired = true
    return [200, { repaired }]
  },
  'POST /v1/chat/completions': ({ body }) => {
    const prompt = JSON.stringify(JSON.parse(body).messages)
    const content = prompt.includes('8500') ? 'enterprise' : 'small'
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }
    return [200, { id: '1', object: 'chat.completion', created: 1, model: 'tiny', choices: [choice] }]
  },
  'POST /crm': ({ body, headers }) => {
    if (headers.authorization !== 'Bearer crm-token') return [401, { message: 'who are you?' }]
    kept.crm.push(JSON.parse(body))
    return [200, { id: kept.crm.length }]
  },
  'GET /crm': () => [200, kept.crm],
  'POST /hook': ({ body, headers }) => {
    const id = headers['webhook-id']
    kept.hook.push({
      id,
      timestamp: headers['webhook-timestamp'],
      signature: headers['webhook-signature'],
      body,
    })
    return [200, { received: true }]
  },
  'GET /hook': () => [200, kept.hook],
}

async function reply(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://service')
  const body = await text(request)
  const answer = routes[`${request.method} ${pathname}`]
  const [status, value] = answer?.({ query: searchParams, headers: request.headers, body }) ?? [
    404,
    { message: 'no such address' },
  ]
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const server = createServer((request, response) => {
  reply(request, response).catch((cause) => response.destroy(cause))
})
server.listen(Number(process.env.PORT ?? 9797), '127.0.0.1', () => {
  process.stdout.write(`The service is at http://127.0.0.1:${server.address().port}\n`)
})
