import { defineAction } from '../define.ts'
import { expression } from '../fields/expression-field.ts'
import { evaluateFormula } from '../formula/formula.ts'
import type { Evaluation } from '../formula/sandbox.ts'
import { done, failed, type Outcome, retry } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'format_data_using_js_expression',
  name: 'Formula',
  description: 'Computes a value from the row with one JavaScript expression.',
  category: 'data',
  synonyms: [
    'javascript',
    'calculate',
    'compute',
    'transform',
    'code',
    'expression',
    'concatenate',
    'format',
  ],
  credits: 0,
  pure: true,
  inputs: {
    data_formatter: expression({
      required: true,
      label: 'Formula',
      help: 'One JavaScript expression. Columns are values in it.',
      placeholder: '({{input.name}} ?? "").trim()',
      details: 'Tokens are values: ({{input.name}} ?? "").trim()',
    }),
  },
  outputs: {
    formatted_data: output.any('The result of the expression as text; arrays and objects as JSON.'),
  },
  run({ inputs, context }) {
    const answer = evaluateFormula(inputs.data_formatter, context.sandbox)
    return answer instanceof Promise ? answer.then(toOutcome) : toOutcome(answer)
  },
})

function toOutcome(answer: Evaluation): Outcome<{ formatted_data: string }> {
  if (answer.ok) return done({ formatted_data: answer.text })
  return answer.stopping ? retry(answer.message) : failed(answer.message)
}
