import { isObject } from '../../lib/json/object.ts'
import { bindFormula, type Formula, moveChains } from '../formula/formula.ts'
import { faultOfExpression } from '../formula/syntax.ts'
import { describeField, type Field, FieldProblem, type FieldTexts, refuse } from './field.ts'

/**
 * Defines a field for one JavaScript expression over the row. Tokens become variables, so that row data is never code.
 */
export function expression(options: FieldTexts & { required?: boolean }): Field<Formula> {
  return {
    type: 'string',
    required: options.required ?? false,
    ...describeField(options, 'formula'),
    check: (raw, path) =>
      typeof raw === 'string' ? { kind: 'save', value: raw } : refuse(path, 'must be a string'),
    resolve: (configured, scope) => bindFormula(typeof configured === 'string' ? configured : '', scope),
    read(resolved) {
      if (isObject(resolved) && typeof resolved['problem'] === 'string') {
        throw new FieldProblem(resolved['problem'])
      }
      // `resolve` returns no other shape, and an unset required field is never read.
      return resolved as Formula
    },
    inspect(configured) {
      const fault = typeof configured === 'string' ? faultOfExpression(configured) : null
      return fault === null ? null : { code: 'invalid_formula', message: `the formula ${fault}` }
    },
    references: (configured) => (typeof configured === 'string' ? moveChains(configured) : configured),
  }
}
