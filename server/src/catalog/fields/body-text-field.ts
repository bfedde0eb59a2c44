import { parseTemplate, type Part, soleToken, type Template } from '../chain/references.ts'
import { isJson } from '../values/json-text.ts'
import { describeField, type Field, type FieldTexts, refuse, type Scope } from './field.ts'

/**
 * Defines a field for a body as text. If the body is JSON, a value of the row keeps the place of its token: inside
 * quotes it is text of that string, elsewhere one JSON value. Any other text, and a token alone, is used unchanged.
 */
export function bodyText(options: FieldTexts): Field<string | undefined> {
  return {
    type: 'promptField',
    required: false,
    ...describeField(options, 'json'),
    check: (raw, path) =>
      typeof raw === 'string' ? { kind: 'save', value: raw } : refuse(path, 'must be a string'),
    resolve(configured, scope) {
      if (typeof configured !== 'string') return configured
      const template = parseTemplate(configured)
      return isJsonTemplate(template) ? fillJson(template, scope) : scope.text(configured)
    },
    read: (resolved) => (typeof resolved === 'string' && resolved !== '' ? resolved : undefined),
  }
}

function isJsonTemplate(template: Template): boolean {
  if (soleToken(template) !== null || template.every(({ kind }) => kind === 'text')) return false
  return isJson(join(template, (_, isQuoted) => (isQuoted ? 'x' : '0')))
}

function fillJson(template: Template, scope: Scope): string {
  return join(template, ({ source }, isQuoted) => {
    const text = scope.text(source)
    if (isQuoted) return JSON.stringify(text).slice(1, -1)
    if (text.trim() === '') return 'null'
    return isJson(text) ? text : JSON.stringify(text)
  })
}

type Fill = (token: Extract<Part, { kind: 'token' }>, isQuoted: boolean) => string

function join(template: Template, fill: Fill): string {
  let isQuoted = false
  return template
    .map((part) => {
      if (part.kind === 'token') return fill(part, isQuoted)
      // A quote after a backslash is escaped and ends nothing.
      const quotes = part.text.replaceAll(/\\./gs, '').split('"').length - 1
      if (quotes % 2 === 1) isQuoted = !isQuoted
      return part.text
    })
    .join('')
}
