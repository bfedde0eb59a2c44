import type { Comment } from '#contract/comments.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { parseTemplate, soleToken } from '../../catalog/chain/references.ts'
import { findInputPath } from '../../catalog/chain/value-path.ts'
import type { CommentPlace, CommentRecord } from '../store/comments.ts'

const MENTION = /@([\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+)/g

/** Returns the addresses that a text names as `@<email>`, each once, in lower case. */
export function findMentions(text: string): string[] {
  return [...new Set([...text.matchAll(MENTION)].map(([, email = '']) => email.toLowerCase()))]
}

/** Returns where a comment on a variable is stored. The sheet is known to have the variable. */
export function placeOfVariable(variable: string, { inputs }: Definition): CommentPlace {
  const token = soleToken(parseTemplate(variable))
  if (token?.kind !== 'input') return { action: null, input_column: null, variable: variable.trim() }
  const path = findInputPath(token.name, (name) => inputs.some((input) => input.name === name))
  const head = path?.head ?? token.name
  const column = inputs.find(({ name }) => name === head)?.column ?? null
  return { action: null, input_column: column, variable: token.name.slice(head.length) }
}

/** Returns the token of the variable that a comment is about, under the name that an input has now; null if it is about none. */
export function printVariable(
  { input_column, variable }: Pick<CommentPlace, 'input_column' | 'variable'>,
  { inputs }: Pick<Definition, 'inputs'>,
): string | null {
  if (variable === null || input_column === null) return variable
  const name = inputs.find(({ column }) => column === input_column)?.name
  return name === undefined ? null : `{{input.${name}${variable}}}`
}

/** Returns a comment for callers. */
export function viewComment(record: CommentRecord, definition: Definition): Comment {
  const { comment_id, row_id, action, content, mentions, author, made_at } = record
  return {
    comment_id,
    row_id,
    action_instance_id: action,
    variable: printVariable(record, definition),
    text: content,
    mentions,
    author,
    made_at: made_at.toISOString(),
    edited_at: record.edited_at?.toISOString() ?? null,
    resolved_at: record.resolved_at?.toISOString() ?? null,
    resolved_by: record.resolved_by,
  }
}
