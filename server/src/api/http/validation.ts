import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import { validationError } from '../../lib/errors.ts'
import { fieldErrors, parseInWords, printPath, valueAt } from '../../lib/field-errors.ts'

type Issue = z.core.$ZodIssue

/**
 * Checks one part of a request. Throws a 400 with every failure at once. Fields that the schema does not know are left
 * out and reported as warnings, so nothing is dropped in silence. `root` names the part in paths such as `inputs[0].type`.
 */
export function checkPart<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  root: string,
): { value: Output; warnings: Warning[] } {
  if (value === undefined && !schema.safeParse(undefined).success) value = insteadOfNothing(schema, root)
  const parsed = parseInWords(schema, value)
  if (parsed.success) return { value: parsed.data, warnings: [] }

  const unknown = parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
  const cleaned = unknown.length === 0 ? value : withoutKeys(value, unknown)
  const again = unknown.length === 0 ? parsed : parseInWords(schema, cleaned)
  if (!again.success) {
    throw validationError(again.error.issues.flatMap((issue) => fieldErrors(issue, cleaned, root)))
  }
  return {
    value: again.data,
    warnings: unknown.flatMap((issue) =>
      issue.keys.map((key) => ({
        field: printPath([...issue.path, key], root),
        code: 'unknown_field',
        message: 'this field is not known here and was ignored',
      })),
    ),
  }
}

/** A body that is missing is read as an object without fields, so that the first missing one is named (D69). */
function insteadOfNothing(schema: z.ZodType, root: string): unknown {
  const issues = schema.safeParse({}).error?.issues ?? []
  if (issues.some((issue) => issue.path.length > 0)) return {}
  throw validationError([{ field: root, message: 'required' }])
}

function withoutKeys(value: unknown, issues: Extract<Issue, { code: 'unrecognized_keys' }>[]): unknown {
  const copy: unknown = structuredClone(value)
  for (const issue of issues) {
    const holder = valueAt(copy, issue.path)
    if (typeof holder === 'object' && holder !== null)
      for (const key of issue.keys) Reflect.deleteProperty(holder, key)
  }
  return copy
}
