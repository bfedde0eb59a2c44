import { defineSource } from '../define.ts'
import { history, messages, slackOptions } from '../systems/slack/messages.ts'

export default defineSource({
  slug: 'import_from_slack',
  name: 'Import from Slack',
  description: 'Messages of channels; on a schedule, new ones.',
  mode: 'either',
  shape: messages,
  pulls: [history],
  options: slackOptions,
})
