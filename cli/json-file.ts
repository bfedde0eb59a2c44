import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { invalid, reasonOf, validationError } from '#server/lib/errors.ts'
import { parseInWords } from '#server/lib/field-errors.ts'
import { parseWithNumberTexts } from '#server/lib/json/lossless-json.ts'

/**
 * Reads the JSON file that a flag names, by `schema`. Reports all errors at once, with places such as
 * `inputs[0].type`.
 */
export function readJsonFile<Value>(path: string, flag: string, schema: z.ZodType<Value>): Value {
  const parsed = parseInWords(schema, JSON.parse(readJsonText(path, flag)))
  if (parsed.success) return parsed.data
  throw validationError(
    parsed.error.issues.map((issue) => ({
      field: printPath(flag, issue.path),
      message: describeIssue(issue),
    })),
  )
}

/** Reads values for rows from a JSON file. Numbers keep every digit. */
export function readJsonRows(path: string, flag: string): unknown {
  return parseWithNumberTexts(readJsonText(path, flag))
}

function readJsonText(path: string, flag: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw invalid(flag, `cannot be read: ${reasonOf(cause)}`)
  }
  try {
    JSON.parse(text)
    return text
  } catch (cause) {
    throw invalid(flag, `${path} must hold valid JSON: ${reasonOf(cause)}`)
  }
}

function describeIssue(issue: z.core.$ZodIssue): string {
  return issue.code === 'unrecognized_keys' ? `not accepted: ${issue.keys.join(', ')}` : issue.message
}

function printPath(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key)}`),
    root,
  )
}
