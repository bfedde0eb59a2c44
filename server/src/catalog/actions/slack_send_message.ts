import { z } from 'zod'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askProvider } from '../provider/single-provider.ts'
import { slack } from '../providers/slack/provider.ts'

const Posted = z.object({ channel: z.string(), ts: z.string() })

export default defineAction({
  id: 'slack_send_message',
  name: 'Send Slack message',
  description: 'Posts a message to a Slack channel or a person.',
  category: 'messages',
  synonyms: ['notify', 'alert', 'chat', 'channel'],
  credits: 0,
  inputs: {
    channel: field.text({
      required: true,
      label: 'Channel',
      help: 'The name of a channel, or an ID.',
      placeholder: '#sales',
      details: 'Takes its id, or its name like #sales.',
    }),
    text: field.text({
      type: 'promptField',
      required: true,
      label: 'Message',
      help: 'Slack formatting works.',
      placeholder: 'New lead: Acme',
    }),
    thread: field.text({
      label: 'Reply in thread',
      help: 'The ID of the message to reply to.',
      advanced: true,
    }),
    connection: field.connection({ provider: slack }),
  },
  outputs: {
    id: output.text('The id of the message in its channel.'),
    channel_id: output.text('The id of the channel.'),
    delivered: output.boolean('True if Slack accepted the message.'),
  },
  async run({ inputs, context }) {
    const { channel, text, thread, connection } = inputs
    const json = { channel: channel.trim(), text, ...(thread === undefined ? {} : { thread_ts: thread }) }
    const request = { method: 'POST', path: '/chat.postMessage', json } as const
    const answer = await askProvider(
      { provider: slack, connection, request, schema: Posted, once: true },
      context,
    )
    if (!answer.ok) return answer.outcome
    const { ts: id, channel: channel_id } = answer.body
    return { kind: 'done', outputs: { id, channel_id, delivered: true }, provenance: answer.provenance }
  },
})
