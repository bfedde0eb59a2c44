// Stands for the services that a workflow asks, so that the tutorial works without accounts: a register of companies, two
// finders of addresses, and an OpenAI-compatible model. It serves the file of leads, too. The register refuses Initech
// until POST /repair and every twentieth lead without archived=true, and keeps what is posted to /crm and /hook.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const COMPANIES = {
  'stripe.com': { employees: 8500, country: 'US' },
  'python.org': { employees: 12, country: 'US' },
  'initech.com': { employees: 300, country: 'US' },
}
let repaired = false

const FIRST = ['Ada', 'Grace', 'Alan', 'Katherine', 'Hedy', 'Emmy', 'Claude', 'Barbara', 'Mary', 'Tim']
const LAST = [
  'Lovelace',
  'Hopper',
  'Turing',
  'Johnson',
  'Lamarr',
  'Noether',
  'Shannon',
  'Liskov',
  'Rossi',
  'Müller',
]
const TRADES = ['Retail', 'Software', 'Logistics']
const CITIES = ['Lisbon', 'Oslo', 'Vienna', 'Lyon']

/** The leads as a person typed them: addresses in many forms, blanks, websites that are missing, names that repeat. */
const LEADS = Array.from({ length: 200 }, (_, n) => {
  const [first, last, domain] = [FIRST[n % 10], LAST[Math.floor(n / 10) % 10], `company${n}.example`]
  const name = [`${first} ${last}`, ` ${first}  ${last}`, `${first.toUpperCase()} ${last}`][n % 3]
  const website = [`https://www.${domain}/about`, domain, '', `HTTP://${domain}`][n % 4]
  const email = n % 4 === 2 || n % 5 === 0 ? `${first}@${domain.toUpperCase()}` : ''
  return [name, website, email, n % 7 === 0 ? 'n/a' : String(n * 13)]
})
const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const csv = [['Name', 'Website', 'Email', 'Employees'], ...LEADS]
  .map((row) => row.map(cell).join(','))
  .join('\r\n')

/** Returns what the register knows about the domain of a lead, or undefined. */
function findLead(domain) {
  const n = Number(/^company(\d+)\.example$/.exec(domain ?? '')?.[1] ?? 'NaN')
  if (LEADS[n] === undefined) return undefined
  const company = {
    employees: (n * 37) % 5000,
    address: { city: CITIES[n % 4], country: 'PT' },
    tags: [TRADES[n % 3], n % 2 === 0 ? 'B2B' : 'B2C'],
  }
  return { n, company }
}

/** Returns an address of a lead whose number the finder knows, or null. */
const findAddress = (domain, knows) => {
  const lead = findLead(domain)
  return lead !== undefined && knows(lead.n) ? `lead${lead.n}@${domain}` : null
}

/** Returns the answer of the model: fields when a format is asked for, one word otherwise. */
function complete(request) {
  const prompt = JSON.stringify(request.messages)
  if (!/fit_score/.test(JSON.stringify(request))) return prompt.includes('8500') ? 'enterprise' : 'small'
  const lead = findLead(/company\d+\.example/.exec(prompt)?.[0])
  return JSON.stringify({
    industry: TRADES[(lead?.n ?? 0) % 3],
    fit_score: (lead?.n ?? 0) % 10,
    opening_line: `Congratulations on the new office in ${CITIES[(lead?.n ?? 0) % 4]}.`,
  })
}
const kept = { crm: [], hook: [] }

const routes = {
  'GET /company': ({ query }) => {
    const domain = query.get('domain')
    if (domain === 'initech.com' && !repaired) return [422, { message: 'the record is locked' }]
    const lead = findLead(domain)
    if (lead !== undefined && lead.n % 20 === 3 && query.get('archived') === null)
      return [422, { message: 'the record is archived: add archived=true' }]
    const found = COMPANIES[domain] ?? lead?.company
    return found === undefined ? [404, { message: 'no such company' }] : [200, found]
  },
  'POST /repair': () => {
    repaired = true
    return [200, { repaired }]
  },
  'POST /v1/chat/completions': ({ body }) => {
    const message = { role: 'assistant', content: complete(JSON.parse(body)) }
    const choice = { index: 0, message, finish_reason: 'stop' }
    return [200, { id: '1', object: 'chat.completion', created: 1, model: 'tiny', choices: [choice] }]
  },
  'GET /leads.csv': () => [200, csv],
  'GET /hunter/v2/email-finder': ({ query }) => {
    const email = findAddress(query.get('domain'), (n) => n % 2 === 0)
    return [200, { data: { email, score: 97, verification: { status: 'valid' } } }]
  },
  'POST /findymail/api/search/name': ({ body }) => {
    const email = findAddress(JSON.parse(body).domain, (n) => n % 5 !== 1)
    return [200, { contact: email === null ? null : { email } }]
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
  const isText = typeof value === 'string'
  response
    .writeHead(status, { 'content-type': isText ? 'text/csv' : 'application/json' })
    .end(isText ? value : JSON.stringify(value))
}

const server = createServer((request, response) => {
  reply(request, response).catch((cause) => response.destroy(cause))
})
server.listen(Number(process.env.PORT ?? 9797), '127.0.0.1', () => {
  process.stdout.write(`The service is at http://127.0.0.1:${server.address().port}\n`)
})
