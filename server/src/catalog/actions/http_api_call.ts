import { defineAction } from '../define.ts'
import { address } from '../fields/address-field.ts'
import { bodyText } from '../fields/body-text-field.ts'
import { field } from '../fields/fields.ts'
import { readReply } from '../http/reply.ts'
import { buildRequest } from '../http/request.ts'
import { hideSecrets } from '../http/secrets.ts'
import { failed, retry } from '../outcome.ts'
import { output } from '../outputs.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const

export default defineAction({
  id: 'http_api_call',
  name: 'HTTP API call',
  description: 'Calls an HTTP API and returns one output for each top-level key of its JSON response.',
  category: 'web',
  synonyms: ['rest', 'request', 'endpoint', 'curl', 'webhook', 'json', 'integration', 'fetch'],
  credits: 0,
  timeoutSeconds: 130,
  inputs: {
    method: field.choice(METHODS, { required: true, label: 'Method', help: 'How to call the API.' }),
    endpoint: address({
      label: 'URL',
      help: 'The address to call.',
      placeholder: 'https://api.example.com/v1/companies/acme.com',
      details:
        'A value of the row fills its place in the address: one step of the path, one value of the query.',
    }),
    query_params: field.pairs({ label: 'Query parameters', help: 'Added to the URL.' }),
    headers: field.pairs({ label: 'Headers', help: 'Sent with the request.' }),
    body: field.pairs({
      label: 'Body',
      help: 'What to send, one value per line. A single column keeps its type.',
      details: 'Sent as JSON. Takes `{name, value}` items or an object.',
    }),
    raw_body: bodyText({
      label: 'Body as text',
      help: 'Sent instead of the body above.',
      details: 'In JSON, a value of the row stays one value.',
      advanced: true,
    }),
    timeout_seconds: field.number({
      min: 1,
      max: 120,
      whole: true,
      default: 30,
      label: 'Timeout in seconds',
      help: 'How long to wait for the whole response.',
      placeholder: '30',
      details: 'Default 30.',
      advanced: true,
    }),
  },
  outputs: { status_code: output.number('The HTTP status of the reply.') },
  dynamic: true,
  run({ inputs, context }) {
    if (inputs.body.length > 0 && inputs.raw_body !== undefined) {
      return { kind: 'unrunnable', message: 'body and raw_body are both set; clear one of them' }
    }
    const timeoutMs = (inputs.timeout_seconds ?? 30) * 1000
    const request = buildRequest(inputs)
    request.timeoutMs = timeoutMs
    request.signal = context.callOff ?? context.signal
    return context.egress.fetch(request).then((reply) => {
      if (reply.ok) return readReply(reply, context.now(), hideSecrets(request, context.secrets()))
      return reply.retryable || reply.kind === 'aborted' ? retry(reply.message) : failed(reply.message)
    })
  },
})
