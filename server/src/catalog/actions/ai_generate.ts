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
import { unreserved } from '../outcome.ts'

export default defineAction({
  id: 'ai_generate',
  name: 'AI generate',
  description: 'Asks a language model, and gives its answer as text or in fields that were checked.',
  category: 'ai',
  credits: 1,
  paysModel: true,
  timeoutSeconds: 1300,
  inputs: {
    model: field.dropdown({ from: 'models', required: true, description: 'The model to ask.' }),
    prompt: field.prompt({
      required: true,
      description: 'The task for the model. Values of the row are marked as data, not as instructions.',
    }),
    output_format: field.outputFormat({
      required: true,
      runsWithout: true,
      description:
        'The shape of the answer: {"fields": [{name, type, description}]} or {"json": <JSON schema>}. Without it the answer is text, in `response`.',
    }),
    system_prompt: field.prompt({ type: 'string', description: 'Instructions that hold for every row.' }),
    temperature: field.number({
      min: 0,
      max: 2,
      description: "How freely the model chooses its words, from 0 to 2. By default the model's own.",
    }),
    max_output_tokens: field.number({
      min: 1,
      max: 1_000_000,
      whole: true,
      description: 'The longest answer, in tokens. An answer that is cut off fails.',
    }),
    use_knowledge: field.toggle({ description: "Add the organisation's knowledge file as background." }),
    connection: field.text({
      description: 'The connection to use, by its name. By default the only one, else the installation.',
    }),
  },
  outputs: {},
  dynamic: true,
  configured: ({ output_format: format }) => outputsOfFormat(readFormat(format)),
  async run({ inputs, context }) {
    const found = await context.models.find(inputs.model.trim(), context, inputs.connection)
    if (!found.ok) return { kind: 'unrunnable', message: found.message }
    const { model } = found
    const credits = model.ownKey ? 0 : context.price
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
