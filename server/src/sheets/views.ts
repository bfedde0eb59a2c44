import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { completeSettings, MAX_VIEWS, type UpdateViewBody, type View } from '#contract/views.ts'
import type { ChainView } from '../catalog/configuration/chain-view.ts'
import type { Db } from '../database/connection/db.ts'
import { AppError, invalid, notFound, validationError } from '../lib/errors.ts'
import { type Author, recordChange } from '../organisation/changes.ts'
import { describeShown } from './rows/shown-columns.ts'
import { findUnknownNames } from './rows/unknown-names.ts'
import type { SheetRecord } from './store/sheets.ts'
import {
  deleteView,
  findScheduleOf,
  findView,
  insertView,
  lockViews,
  updateView,
  type ViewRecord,
} from './store/views.ts'

type Saving = { author: Author; sheet: SheetRecord; chain: ChainView }

/** Adds a view to a sheet and returns it. */
export async function addView(
  db: Db,
  { author, sheet, chain }: Saving,
  body: UpdateViewBody & { name: string },
): Promise<ViewRecord> {
  const { name, visibility = 'shared', is_default = false, ...settings } = body
  throwErrors([...findViewErrors(body, chain), ...findDefaultErrors({ visibility, is_default })])
  const entry = { action: 'view.created', target: sheet.sheet_id, details: { name } }
  return recordChange(db, author, entry, async (trx) => {
    if ((await lockViews(trx, sheet)) >= MAX_VIEWS)
      throw new AppError('Conflict', `The sheet has ${MAX_VIEWS} views, which is the most. Delete one first`)
    const view = { name, visibility, is_default, owner_id: author.memberId, settings }
    return requireView(trx, author, sheet, await insertView(trx, sheet, view))
  })
}

/** Changes what a body names of a view, and returns the view. */
export async function changeView(
  db: Db,
  { author, sheet, chain }: Saving,
  viewId: string,
  body: UpdateViewBody,
): Promise<ViewRecord> {
  const entry = { action: 'view.changed', target: sheet.sheet_id, details: { view_id: viewId } }
  return recordChange(db, author, entry, async (trx) => {
    await lockViews(trx, sheet)
    const view = await requireView(trx, author, sheet, viewId)
    const { name = view.name, visibility = view.visibility, is_default = view.is_default, ...changes } = body
    const unset = view.is_default && body.is_default === false
    throwErrors([
      ...findViewErrors(body, chain),
      ...(unset ? [{ field: 'is_default', message: 'make another view the default instead' }] : []),
      ...findDefaultErrors({ visibility, is_default: is_default || view.is_default }),
    ])
    if (visibility === 'only_me' && view.owner_id !== author.memberId)
      throw new AppError('Forbidden', 'Only the owner of a view can make it theirs alone')
    const settings = { ...view.settings, ...changes }
    await updateView(trx, { ...view, name, visibility, is_default, settings })
    return requireView(trx, author, sheet, viewId)
  })
}

/** Deletes a view. Refuses the default one, and one that a schedule uses. */
export async function removeView(
  db: Db,
  { author, sheet }: Omit<Saving, 'chain'>,
  viewId: string,
): Promise<void> {
  const entry = { action: 'view.deleted', target: sheet.sheet_id, details: { view_id: viewId } }
  await recordChange(db, author, entry, async (trx) => {
    await lockViews(trx, sheet)
    const view = await requireView(trx, author, sheet, viewId)
    if (view.is_default)
      throw new AppError(
        'Conflict',
        'The default view cannot be deleted. Make another view the default first',
      )
    const schedule = await findScheduleOf(trx, view)
    if (schedule !== undefined) {
      const message = `The schedule \`${schedule.cron}\` (${schedule.timezone}) of the sheet runs the rows of this view. Change or remove the schedule first`
      throw new AppError('Conflict', message)
    }
    await deleteView(trx, view)
  })
}

/** Returns a view that the member may see, or throws 404. */
export async function requireView(
  db: Db,
  reader: { memberId: string },
  sheet: SheetRecord,
  viewId: string,
): Promise<ViewRecord> {
  const view = await findView(db, sheet, viewId, reader)
  if (view === undefined) throw notFound('View')
  return view
}

function throwErrors(errors: FieldError[]): void {
  if (errors.length > 0) throw validationError(errors)
}

function findDefaultErrors({
  visibility,
  is_default,
}: Pick<View, 'visibility' | 'is_default'>): FieldError[] {
  if (!is_default || visibility === 'shared') return []
  return [{ field: 'visibility', message: 'the default view of a sheet must be `shared`' }]
}

/** Finds what the sheet does not have, and shown columns of one name. */
function findViewErrors(body: UpdateViewBody, chain: ChainView): FieldError[] {
  const names = new Set<string>()
  const columns = (body.columns ?? []).flatMap((column, n): FieldError[] => {
    const shown = describeShown(column, chain)
    const isThere = chain.definition.actions.some(({ id }) => id === column.action_instance_id)
    if (shown === undefined) {
      const isUnreadable = column.path !== undefined && isThere
      return isUnreadable
        ? [
            {
              field: `columns[${n}].path`,
              message: 'must be an output, and perhaps a path into it: `person.emails[0]`',
            },
          ]
        : []
    }
    const isTaken = names.has(shown.name)
    names.add(shown.name)
    return isTaken
      ? [{ field: `columns[${n}].name`, message: `another shown column is named ${shown.name}` }]
      : []
  })
  return [...findUnknownNames(body, chain), ...columns]
}

/** Returns a warning for each shown column whose path leads nowhere. */
export function warnOfShown(view: ViewRecord, chain: ChainView): Warning[] {
  return completeSettings(view.settings).columns.flatMap((column, n): Warning[] => {
    const shown = describeShown(column, chain)
    if (shown === undefined || shown.isKnown) return []
    const message = `the action has no output for ${shown.reference}`
    return [{ field: `columns[${n}].path`, code: 'unresolved_reference', message }]
  })
}

/** Returns a view as callers read it. */
export function describeView(view: ViewRecord, chain: ChainView): View {
  const { columns, ...settings } = completeSettings(view.settings)
  return {
    view_id: view.view_id,
    name: view.name,
    visibility: view.visibility,
    is_default: view.is_default,
    owner: view.owner,
    ...settings,
    columns: columns.map((column) => {
      const shown = describeShown(column, chain)
      return shown === undefined
        ? column
        : { ...column, name: shown.name, type: shown.type, reference: shown.reference }
    }),
    made_at: view.made_at.toISOString(),
    updated_at: view.updated_at.toISOString(),
  }
}

/** Returns the error for a view that filters, sorts or groups by what the sheet no longer has, or undefined. */
export function findGoneParts({ name, settings }: ViewRecord, chain: ChainView): AppError | undefined {
  const { filters, status_filters, sort, groups } = completeSettings(settings)
  const [gone] = findUnknownNames({ filters, status_filters, sort, groups }, chain)
  return (
    gone &&
    invalid(
      'view_id',
      `the view ${name} cannot be used: ${gone.message} (${gone.field}). Change the view first`,
    )
  )
}
