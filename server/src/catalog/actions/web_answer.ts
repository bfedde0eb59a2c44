import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { ANSWERERS } from '../waterfalls/answer.ts'

export default defineAction({
  id: 'web_answer',
  name: 'Answer from the web',
  description: 'Answers a question from the web with a provider, and lists the pages used.',
  category: 'web',
  synonyms: ['question', 'research', 'ask', 'perplexity', 'fact'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    question: field.text({
      required: true,
      label: 'Question',
      help: 'A question in plain words.',
      placeholder: 'Who founded Acme?',
    }),
    providers: field.waterfall({
      adapters: ANSWERERS,
      label: 'Providers',
      help: 'Asked in order until one has an answer.',
    }),
    order: field.waterfallOrder,
  },
  outputs: {
    answer: output.text('The answer.'),
    sources: output.table('Where it comes from.', { title: 'string', url: 'url' }),
    provider: output.text('The provider that answered.'),
  },
  run: ({ inputs, context }) =>
    askInOrder({ ...inputs.providers, order: inputs.order }, { question: inputs.question.trim() }, context, {
      read: ({ value, provider }) => ({
        ...value,
        provider,
      }),
    }),
})
