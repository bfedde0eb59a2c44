import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { readFormat } from '../fields/output-format.ts'
import { DATA_RULE, KNOWLEDGE_RULE, printKnowledge, printRowData, printWords } from '../fields/prompt.ts'
import {
  type AnswerSchema,
  toAnswerSchema,
  outputsOfAnswer,
  outputsOfFormat,
  printSchema,
} from '../models/answer-schema.ts'
import { askObject, askText } from '../models/ask-model.ts'
import type { ModelQuestion } from '../models/model-question.ts'
import { creditsOf } from '../models/models.ts'
import { unreserved } from '../outcome.ts'

export default defineAction({
  id: 'ai_generate',
  name: 'AI generate',
  description:
    'Asks a language model about each row. Returns text, or fields that are checked against their types.',
  category: 'ai',
  synonyms: [
    'gpt',
    'chatgpt',
    'openai',
    'claude',
    'anthropic',
    'llm',
    'prompt',
    'classify',
    'summarize',
    'score',
    'write text',
    'personalize',
    'extract',
  ],
  credits: 1,
  paysModel: true,
  timeoutSeconds: 1300,
  inputs: {
    model: field.dropdown({
      from: 'models',
      required: true,
      label: 'Model',
      help: 'The language model that answers.',
    }),
    prompt: field.prompt({
      required: true,
      label: 'Prompt',
      help: 'What the model should do with each row.',
      placeholder: 'Classify the company into one of our industries.',
      details: 'Values of the row reach the model marked as data, not as instructions.',
    }),
    output_format: field.outputFormat({
      required: true,
      runsWithout: true,
      label: 'Answer fields',
      help: 'The fields of the answer. Without fields, the answer is one text.',
      details:
        'Takes {"fields": [{name, type, description, choices?}]} or {"json": <JSON schema>}. Without it the answer is text, in `response`.',
    }),
    system_prompt: field.prompt({
      type: 'string',
      label: 'Instructions for every row',
      help: 'Background or rules that apply to all rows.',
      placeholder: 'You research B2B companies. Answer briefly.',
      advanced: true,
    }),
    temperature: field.number({
      min: 0,
      max: 2,
      label: 'Creativity',
      help: 'From 0 (always the most likely answer) to 2. The model decides when empty.',
      placeholder: '0.2',
      advanced: true,
    }),
    max_output_tokens: field.number({
      min: 1,
      max: 1_000_000,
      whole: true,
      label: 'Longest answer, in tokens',
      help: 'Answers that are cut off at this length fail.',
      placeholder: '1000',
      advanced: true,
    }),
    use_knowledge: field.toggle({
      label: 'Use company knowledge',
      help: "Adds your organisation's knowledge file as background.",
      advanced: true,
    }),
    connection: field.text({
      label: 'Connection',
      help: 'Your own model key. Leave empty for your only connection, or the key of this installation.',
      details: 'Takes the name of a connection.',
      advanced: true,
      kind: 'connection',
    }),
  },
  outputs: {},
  dynamic: true,
  configured: ({ output_format: format }) => outputsOfFormat(readFormat(format)),
  async run({ inputs, context }) {
    const found = await context.models.find(inputs.model.trim(), context, inputs.connection)
    if (!found.ok) return { kind: 'unrunnable', message: found.message }
    const { model } = found
    const credits = creditsOf(model, context.price)
    const reserved = await context.reserve(credits)
    if (reserved !== true) return unreserved(reserved, credits, context.state)
    const format = inputs.output_format
    const schema = format === undefined ? undefined : toAnswerSchema(format)
    const knowledge = inputs.use_knowledge ? await context.knowledge() : null
    const question: ModelQuestion = {
      model,
      instructions: printInstructions(knowledge, printWords(inputs.system_prompt), schema),
      task: printWords(inputs.prompt),
      data: printRowData([...inputs.system_prompt, ...inputs.prompt]),
      temperature: inputs.temperature,
      maxOutputTokens: inputs.max_output_tokens,
      secrets: context.secrets(),
    }
    const asked =
      schema === undefined ? await askText(question, context) : await askObject(question, schema, context)
    if (!asked.ok) return asked.outcome
    return {
      kind: 'done',
      outputs: format === undefined ? { response: asked.value } : outputsOfAnswer(format, asked.value),
      credits,
      provenance: asked.calls.map((call) =>
        call.status === 'hit' ? { ...call, credits, ...listedFor(model, context.price) } : call,
      ),
    }
  },
})

/** Returns the list price of a call that ran on a key of the organisation. */
const listedFor = ({ ownKey }: { ownKey: boolean }, price: number): { list_credits?: number } =>
  ownKey ? { list_credits: price } : {}

/**
 * Prints the instructions. They are the same for every row of an action, and begin the same for every action of the
 * organisation.
 */
function printInstructions(
  knowledge: string | null,
  systemPrompt: string,
  schema: AnswerSchema | undefined,
): string {
  return [
    DATA_RULE,
    ...(knowledge === null || knowledge === '' ? [] : [`${KNOWLEDGE_RULE}\n${printKnowledge(knowledge)}`]),
    systemPrompt,
    schema === undefined
      ? ''
      : `Answer with JSON only, without other words, that fits this JSON schema. Use null, where it is allowed, for what cannot be known.\n${printSchema(schema.told)}`,
  ]
    .filter((part) => part.trim() !== '')
    .join('\n\n')
}
