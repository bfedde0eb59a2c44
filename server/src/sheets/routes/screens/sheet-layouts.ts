import { success } from '#contract/envelope.ts'
import { SheetLayout } from '#contract/sheet-layout.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { findLayout, putLayout } from '../../store/sheet-layouts.ts'
import { sheetOfPath, SheetParams } from '../workflows/resources.ts'

const PATH = '/workflows/:workflow_id/sheets/:sheet_id/layout'

/** Registers the endpoints for the layout of a sheet's columns, which each member has on every device. */
export function sheetLayouts(api: Api): void {
  const response = { 200: success(200, SheetLayout.nullable()) }
  api.get(
    PATH,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: { params: SheetParams, response },
    },
    async ({ db, sheet, caller }) => {
      const layout = await findLayout(db, { ...sheet, member_id: caller.memberId })
      return ok(layout ?? null)
    },
  )

  api.put(
    PATH,
    {
      config: { scope: 'workflows:data:read', body: 'document', resource: sheetOfPath },
      schema: { params: SheetParams, body: SheetLayout, response },
    },
    async ({ db, sheet, caller, body }) => {
      await putLayout(db, { ...sheet, member_id: caller.memberId }, body)
      return ok(body)
    },
  )
}
