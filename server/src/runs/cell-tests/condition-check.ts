import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { ConditionGroup } from '../../catalog/chain/condition-shape.ts'
import type { ActionInstance } from '../../catalog/chain/definition.ts'
import { listTokens } from '../../catalog/chain/reference-walk.ts'
import { parseTemplate } from '../../catalog/chain/references.ts'
import { createRowScope } from '../../catalog/chain/row-scope.ts'
import { type ChainView, typesIn } from '../../catalog/configuration/chain-view.ts'
import { configureAction } from '../../catalog/configuration/configure.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import { validationError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json/object.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { sampleRows } from '../row-sample.ts'
import { listForeseenRows } from '../store/foreseen-cells.ts'
import { knowsOutput } from './dry-run.ts'
import { isMet } from './resolved-inputs.ts'

const BLANK: ActionInstance = { id: '', action_id: '', display_name: '', inputs: {}, epoch: 0 }
const CHUNK = 100

type Wanted = { sheet: SheetRecord; chain: ChainView; catalogue: Catalogue }
type Asked = { runIf: Record<string, unknown> | null; rows: number }
type Checked = { looked_at: number; passed: number; words: string; warnings: Warning[] }

/** Counts the rows of an even sample that meet a condition. Rows whose inputs are large are not looked at. */
export async function checkConditions(
  db: Db,
  { sheet, chain, catalogue }: Wanted,
  { runIf, rows }: Asked,
): Promise<Checked> {
  const { action, errors, warnings } = configureAction(BLANK, undefined, { run_if: runIf }, typesIn(chain))
  if (errors.length > 0) throw validationError(errors)
  const { run_if } = action
  const groups = run_if?.conditions ?? []
  const tokens = listTokens(groups).map(({ token }) => token)
  const named = [...new Set(tokens.flatMap((token) => ('action' in token ? [token.action] : [])))]
  const { seqs } = await sampleRows(db, sheet, { kind: 'all' }, { whole: rows, some: rows })
  let [lookedAt, passed] = [0, 0]
  for (let at = 0; at < seqs.length; at += CHUNK) {
    for (const { data, cells } of await listForeseenRows(db, sheet, seqs.slice(at, at + CHUNK), named)) {
      if (data === null) continue
      lookedAt += 1
      const scope = createRowScope(chain.definition, { data, cells }, knowsOutput(catalogue), new Map())
      if (isMet(action, scope.lookup) !== false) passed += 1
    }
  }
  return { looked_at: lookedAt, passed, words: describeConditions(groups, chain), warnings }
}

/** Finds the errors inside the conditions of a body whose shape was already refused (D5). */
export function findConditionErrors(body: unknown, chain: ChainView): FieldError[] {
  const given = isObject(body) ? body['run_if'] : undefined
  if (!isObject(given)) return []
  return configureAction(BLANK, undefined, { run_if: given }, typesIn(chain)).errors
}

/** Operators that need a verb to be read as part of a sentence. */
const VERBS: Readonly<Record<string, string>> = {
  'greater than': 'is greater than',
  'less than': 'is less than',
  'greater than or equal to': 'is at least',
  'less than or equal to': 'is at most',
}

/** Returns conditions as a sentence, with the names of columns. */
export function describeConditions(groups: readonly ConditionGroup[], chain: ChainView): string {
  if (groups.length === 0) return 'Every row'
  const printed = groups.map(({ combinator, conditions }) => ({
    combinator,
    text: join(
      conditions.map(({ combinator: own, variable, operator, values = [] }) => ({
        combinator: own,
        text: [
          nameOf(variable, chain),
          VERBS[operator] ?? operator,
          values.map((value) => quote(value, chain)).join(' and '),
        ]
          .filter((part) => part !== '')
          .join(' '),
      })),
    ),
    isOne: conditions.length === 1,
  }))
  const isAlone = printed.length === 1
  return join(
    printed.map(({ combinator, text, isOne }) => ({
      combinator,
      text: isAlone || isOne ? text : `(${text})`,
    })),
  )
}

type Part = { combinator: 'AND' | 'OR' | undefined; text: string }

const join = (parts: readonly Part[]): string =>
  parts
    .map(({ combinator, text }, n) => (n === 0 ? text : `${combinator === 'OR' ? 'or' : 'and'} ${text}`))
    .join(' ')

const quote = (value: string, chain: ChainView): string =>
  parseTemplate(value).some(({ kind }) => kind === 'token') ? nameOf(value, chain) : `"${value}"`

/** Replaces the tokens of a text by the names of their columns. */
function nameOf(text: string, { definition }: ChainView): string {
  return parseTemplate(text)
    .map((part) => {
      if (part.kind === 'text') return part.text
      const { token } = part
      if (token.kind === 'env') return token.key
      if (token.kind === 'input') return token.name
      const found = definition.actions.find(({ id }) => id === token.action)?.display_name ?? token.action
      return `${found} › ${token.kind === 'column' ? `${token.list} › ${token.column}` : token.name}`
    })
    .join('')
}
