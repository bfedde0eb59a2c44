import { parseTemplate, soleToken, type Template } from '../chain/references.ts'
import { inspectUrl } from './address-inspection.ts'
import { describeField, type Field, FieldProblem, type FieldTexts, refuse, type Scope } from './field.ts'

/**
 * Defines a field for an absolute address. A value of the row fills only the place of its token: one segment of the
 * path or one value of the query. A token that comes first or stands alone may be the whole address or its beginning.
 */
export function address(options: FieldTexts): Field<string> {
  return {
    type: 'url',
    required: true,
    ...describeField(options, 'url'),
    inspect: (configured) => (typeof configured === 'string' ? inspectUrl(configured, true) : null),
    check: (raw, path) =>
      typeof raw === 'string' ? { kind: 'save', value: raw } : refuse(path, 'must be a string'),
    resolve: (configured, scope) =>
      typeof configured === 'string' ? fillAddress(parseTemplate(configured.trim()), scope) : configured,
    read(resolved) {
      if (Array.isArray(resolved)) throw new FieldProblem(String(resolved[0]))
      return typeof resolved === 'string' ? resolved : ''
    },
  }
}

/** Returns the filled address, or a list with the error message. */
function fillAddress(template: Template, scope: Scope): string | [string] {
  if (soleToken(template) !== null) return scope.text(template.map(printPart).join(''))
  let filled = ''
  for (const [at, part] of template.entries()) {
    if (part.kind === 'text') filled += part.text
    else if (filled === '') filled = scope.text(part.source).trim()
    else {
      const value = scope.text(part.source).toWellFormed()
      const isWholeHost = filled.endsWith('://') && /^([/?#]|$)/.test(textAt(template, at + 1))
      filled += isWholeHost && HOST.test(value) ? value : encodeURIComponent(value)
      const segment = `${segmentBefore(filled)}${/^[^/?#]*/.exec(textAt(template, at + 1))?.[0] ?? ''}`
      // Programs that read addresses never take such a segment for a name, however it is spelled: it always leads
      // elsewhere.
      if (DOTS.test(segment)) return [`a value in its path must not be "${value}"`]
    }
  }
  return filled
}

/** A host with its port. Text that ends the host, or names a user before it, does not match. */
const HOST = /^[^/?#@\\\s]+$/
const DOTS = /^(\.|%2e){1,2}$/i

const printPart = (part: Template[number]): string => (part.kind === 'text' ? part.text : part.source)

function textAt(template: Template, at: number): string {
  const part = template[at]
  return part?.kind === 'text' ? part.text : ''
}

/** Returns the last segment of the path so far, or an empty text after the end of the path. */
function segmentBefore(filled: string): string {
  return /[?#]/.test(filled) ? '' : filled.slice(filled.lastIndexOf('/') + 1)
}
