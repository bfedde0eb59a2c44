import { z } from 'zod'
import { GivenInputs, GivenOutputs, ShortcutDetails } from '#contract/shortcuts.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import type { Db } from '#server/database/connection/db.ts'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { type GivenSchemas, type Publisher, listWarnings } from '#server/shortcuts/publish.ts'
import {
  findOrganisationOfShortcut,
  findShortcut,
  type ShortcutFor,
  type ShortcutRecord,
} from '#server/shortcuts/store/shortcuts.ts'
import { type ShortcutView, viewShortcut } from '#server/shortcuts/view.ts'
import { readJsonFile } from './json-file.ts'
import { type CommandOutput, formatDetails, formatTable } from './output.ts'

export const ShortcutId = z
  .string()
  .toLowerCase()
  .refine(isUuid, 'must be a UUID, as `loam shortcut list` shows it')

export const DetailsFlags = {
  name: ShortcutDetails.shape.name.exactOptional(),
  description: ShortcutDetails.shape.description.exactOptional(),
  coverImage: ShortcutDetails.shape.cover_image.exactOptional(),
  iconEmoji: ShortcutDetails.shape.icon_emoji.exactOptional(),
}
export const SchemaFlags = { inputs: z.string().exactOptional(), outputs: z.string().exactOptional() }

export async function requireShortcut(db: Db, id: string): Promise<ShortcutFor> {
  const orgId = await findOrganisationOfShortcut(db, id)
  const found = orgId === undefined ? undefined : await findShortcut(db, orgId, null, id)
  if (found === undefined) throw notFound(`Shortcut ${id}`)
  return found
}

/**
 * Returns a publisher for the operator, who acts for a member. Only creating a shortcut needs a member who
 * still exists.
 */
export async function openPublisher(db: Db, orgId: string, memberId: string | null): Promise<Publisher> {
  const author = { ...OPERATOR, orgId, memberId: memberId ?? '' }
  return { db, author, catalogue: await loadCatalogue() }
}

export function readSchemas(flags: { inputs?: string; outputs?: string }): GivenSchemas {
  return {
    ...(flags.inputs === undefined ? {} : { inputs: readJsonFile(flags.inputs, 'inputs', GivenInputs) }),
    ...(flags.outputs === undefined ? {} : { outputs: readJsonFile(flags.outputs, 'outputs', GivenOutputs) }),
  }
}

/**
 * Returns the output of a command: programs get the shortcut as the API returns it; people also see the
 * source of each field.
 */
export function shortcutOutput(shortcut: ShortcutRecord, title: string): CommandOutput {
  const data = viewShortcut(shortcut)
  const warnings = listWarnings(shortcut)
  return {
    data: { ...data, ...(warnings.length === 0 ? {} : { warnings }) },
    text: () =>
      [
        describe(data, title),
        ...describeFields(shortcut),
        ...warnings.map(({ message }) => `Warning: ${message}`),
      ].join('\n'),
  }
}

function describe(shortcut: ShortcutView, title: string): string {
  return formatDetails(title, [
    ['id', shortcut.id],
    ['name', [shortcut.icon_emoji, shortcut.name].filter(Boolean).join(' ')],
    ['workflow', shortcut.workflow_id],
    ['state', stateOf(shortcut)],
    ...(shortcut.parent_app_id === null
      ? []
      : [['copy of', shortcut.parent_app_id] satisfies [string, string]]),
  ])
}

function describeFields({ inputs, outputs, version }: ShortcutRecord): string[] {
  return [
    '',
    formatTable(
      ['INPUT', 'TYPE', 'REQUIRED', 'DEFAULT', 'NAME'],
      inputs.map(({ reference, type, required, defaultValue, name }) => [
        reference,
        type,
        required === true ? 'yes' : '',
        defaultValue === undefined ? '' : JSON.stringify(defaultValue),
        name,
      ]),
      'No inputs.',
    ),
    '',
    formatTable(
      ['OUTPUT', `SHOWS (VERSION ${version})`],
      outputs.map(({ name, reference }) => [name, reference]),
      'No outputs.',
    ),
  ]
}

export function stateOf({
  is_archived,
  is_published,
}: {
  is_archived: boolean
  is_published: boolean
}): string {
  if (is_archived) return 'archived'
  return is_published ? 'published' : 'unpublished'
}
