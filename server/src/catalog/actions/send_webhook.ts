import { createHash } from 'node:crypto'
import { defineAction } from '../define.ts'
import { address } from '../fields/address-field.ts'
import { field } from '../fields/fields.ts'
import { payload } from '../fields/payload-field.ts'
import { readReply } from '../http/reply.ts'
import { hideSecrets } from '../http/secrets.ts'
import { signDelivery } from '../http/webhook-signature.ts'
import { failed, retry } from '../outcome.ts'
import { output } from '../outputs.ts'

const TIMEOUT_MS = 20_000

export default defineAction({
  id: 'send_webhook',
  name: 'Send webhook',
  description: 'Posts a payload to a URL, signed by Standard Webhooks.',
  category: 'messages',
  synonyms: ['notify', 'post', 'http', 'zapier', 'make', 'n8n', 'callback'],
  credits: 0,
  inputs: {
    url: address({
      label: 'URL',
      help: 'The address that receives the webhook.',
      placeholder: 'https://example.com/hooks/loam',
    }),
    payload: payload({
      required: true,
      label: 'Payload',
      help: 'What to send. Columns may stand anywhere in it.',
      details: 'JSON whose texts may hold tokens, or one token for its value.',
    }),
    secret: field.text({
      label: 'Signing secret',
      help: 'Signs each delivery. Best kept as an environment variable.',
      placeholder: '{{env.WEBHOOK_SECRET}}',
      details: '`whsec_` and the key in base64, or the key itself.',
      advanced: true,
    }),
    connection: field.text({
      label: 'Connection',
      help: 'A webhook connection that holds the signing secret.',
      details: 'A connection `webhook`, by its name.',
      advanced: true,
      kind: 'connection',
    }),
  },
  outputs: {
    id: output.text('The webhook-id: the same in every try, so that receivers can tell repeated deliveries.'),
    delivered: output.boolean('True if the receiver accepted the delivery.'),
    status_code: output.number('The HTTP status of its answer.'),
  },
  async run({ inputs, context }) {
    const { url, connection } = inputs
    const own = inputs.secret === undefined ? await context.keys.own('webhook', connection) : null
    if (connection !== undefined && inputs.secret === undefined && own === null) {
      return { kind: 'unrunnable', message: `there is no connection "${connection}" to webhook` }
    }
    const secret = inputs.secret ?? own?.fields['secret']
    const isJson = 'json' in inputs.payload
    const body = 'json' in inputs.payload ? JSON.stringify(inputs.payload.json) : inputs.payload.text
    const id = `msg_${createHash('sha256').update(context.cellRun).digest('hex').slice(0, 32)}`
    const request = {
      url: url.trim(),
      method: 'POST',
      headers: {
        'content-type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
        ...signDelivery({ id, body, at: context.now() }, secret),
      },
      body,
    }
    const reply = await context.egress.fetch({ ...request, timeoutMs: TIMEOUT_MS, signal: context.signal })
    if (!reply.ok) {
      return reply.retryable || reply.kind === 'aborted' ? retry(reply.message) : failed(reply.message)
    }
    const { status: status_code } = reply
    if (status_code < 400) return { kind: 'done', outputs: { id, delivered: true, status_code } }
    const secrets = [...context.secrets(), ...(secret === undefined ? [] : [secret])]
    const answer = await readReply(reply, context.now(), hideSecrets(request, secrets))
    return answer.kind === 'retry' || answer.kind === 'failed' ? answer : failed(`HTTP ${status_code}`)
  },
})
