import { z } from 'zod'
import * as actions from './actions.ts'
import * as budgets from './budgets.ts'
import * as catalogue from './catalogue.ts'
import * as causes from './causes.ts'
import { CellTest, TestActionBody, TestEstimate, TestNewActionBody } from './cell-tests.ts'
import * as comments from './comments.ts'
import { CheckConditionsBody, CheckedConditions } from './condition-checks.ts'
import { CreditsOverview } from './credits.ts'
import { Estimate, EstimateBody } from './estimates.ts'
import * as exports from './exports.ts'
import * as imports from './imports.ts'
import { ChangedInput, ChangeInputBody, CreateInputsBody, DuplicateInputBody, Input } from './inputs.ts'
import { Invitation, RemovedMember } from './members.ts'
import * as edits from './row-edits.ts'
import * as history from './row-history.ts'
import * as search from './row-search.ts'
import { DeleteAllBody, DeleteRowsBody } from './row-selectors.ts'
import { RowStatistics, RowStatisticsBody } from './row-statistics.ts'
import * as rows from './rows.ts'
import * as runs from './runs.ts'
import * as screens from './screens.ts'
import * as segmentForms from './segment-forms.ts'
import * as syncs from './segment-syncs.ts'
import { SegmentPage, SegmentSummary } from './segments.ts'
import * as sessions from './sessions.ts'
import * as settings from './settings.ts'
import { SheetLayout } from './sheet-layout.ts'
import * as sheetSettings from './sheet-settings.ts'
import * as sheets from './sheets.ts'
import * as shortcuts from './shortcuts.ts'
import * as sources from './sources.ts'
import { Usage, UsageQuery } from './usage.ts'
import { User } from './user.ts'
import * as views from './views.ts'
import { Waterfall, WaterfallQuery } from './waterfalls.ts'
import * as workflows from './workflows.ts'

/**
 * The schemas of one endpoint: its query, its body, the data of its answer, and the data of its answer to `dry_run`.
 * An answer without data of interest is left out.
 */
type Schemas = { query?: z.ZodType; body?: z.ZodType; answer?: z.ZodType; dryRun?: z.ZodType }

/**
 * The endpoints that the dashboard calls, by method and path. Paths below `/internal` are complete; all others are
 * below `/api/v1`. The dashboard imports only the type of this table, and test/guards/endpoints.test.ts compares
 * it with the routes of the server.
 */
export const ENDPOINTS = {
  'GET /user': { answer: User },

  'GET /credits': { answer: CreditsOverview },
  'GET /credits/usage': { query: UsageQuery, answer: Usage },
  'GET /credits/budgets': { answer: z.array(budgets.Budget) },
  'POST /credits/budgets': { body: budgets.CreateBudgetBody, answer: budgets.CreatedBudget },
  'PATCH /credits/budgets/:budget_id': { body: budgets.UpdateBudgetBody, answer: budgets.Budget },
  'DELETE /credits/budgets/:budget_id': { answer: budgets.DeletedBudget },

  'GET /internal/workflows': { answer: z.array(screens.ListedWorkflow) },
  'POST /workflows': { body: workflows.NameBody, answer: workflows.CreatedWorkflow },
  'GET /workflows/:workflow_id': { answer: workflows.WorkflowOverview },
  'DELETE /workflows/:workflow_id': { answer: workflows.DeletedWorkflow },
  'PATCH /workflows/:workflow_id/name': { body: workflows.NameBody, answer: workflows.NamedWorkflow },
  'POST /workflows/:workflow_id/duplicate': { body: workflows.NameBody, answer: workflows.NamedWorkflow },
  'GET /internal/workflows/:workflow_id/share': { answer: sheetSettings.Sharing },
  'POST /internal/workflows/:workflow_id/share': {
    body: sheetSettings.SharingBody,
    answer: sheetSettings.Sharing,
  },
  'DELETE /internal/workflows/:workflow_id/share/:email': { answer: sheetSettings.Sharing },
  'POST /workflows/:workflow_id/sheets': { body: sheets.CreateSheetBody, answer: sheets.CreatedSheet },
  'PATCH /workflows/:workflow_id/sheets/:sheet_id': { body: sheets.UpdateSheetBody, answer: sheets.Sheet },
  'DELETE /workflows/:workflow_id/sheets/:sheet_id': { answer: sheets.DeletedSheet },

  'GET /actions': { query: catalogue.CatalogueQuery, answer: z.array(catalogue.CatalogueEntry) },
  'GET /actions/:action_id': { answer: catalogue.CatalogueAction },

  'POST /files': { query: imports.UploadQuery, answer: imports.StoredFile },
  'GET /internal/files/:file_ref/preview': {
    query: z.strictObject({ sheet_name: z.string().optional() }),
    answer: screens.FilePreview,
  },

  'GET /shortcuts': { query: shortcuts.ListShortcutsQuery, answer: z.array(shortcuts.Shortcut) },
  'GET /shortcuts/:id': { answer: shortcuts.Shortcut },
  'POST /shortcuts/:id/run': { body: shortcuts.RunShortcutBody, answer: shortcuts.QueuedShortcutRun },
  'POST /shortcuts/:id/run/batch': {
    body: shortcuts.RunShortcutBatchBody,
    answer: shortcuts.QueuedShortcutBatch,
  },
  'GET /shortcuts/:id/runs': { query: shortcuts.ListShortcutRunsQuery, answer: shortcuts.ShortcutRunPage },
  'GET /shortcuts/:id/runs/:run_id': { answer: shortcuts.ShortcutRun },
  'POST /internal/shortcuts': { body: sheetSettings.PublishBody, answer: shortcuts.Shortcut },
  'POST /internal/shortcuts/:id/republish': { body: sheetSettings.RepublishBody, answer: shortcuts.Shortcut },
  'POST /internal/shortcuts/:id/unpublish': { answer: shortcuts.Shortcut },
  'POST /internal/shortcuts/:id/archive': { answer: shortcuts.Shortcut },
  'GET /internal/shortcuts/:id/versions': { answer: screens.ShortcutVersions },

  'GET /sources': { answer: z.array(sources.SourceInstance) },
  'GET /sources/:source_instance_id': { answer: sources.SourceState },
  'GET /sources/:source_instance_id/data': { query: sources.SourceDataQuery, answer: sources.SourceData },
  'POST /sources/:source_instance_id/sync': { body: sources.SyncSourceBody, answer: sources.SyncedSource },
  'PATCH /sources/:source_instance_id/status': {
    body: sources.SourceStatusBody,
    answer: sources.SourceStatusChange,
  },
  'POST /sources/:source_id': { body: sources.SourceBody, answer: sources.CreatedSource },
  'POST /sources/:source_id/preview': { body: sources.SourceBody, answer: sources.SourcePreview.shape.data },
  'POST /sources/:source_id/options/:field_name': {
    body: sources.SourceOptionsBody,
    answer: sources.SourceOptionList,
  },
  'PATCH /internal/sources/:source_instance_id': { body: sources.SourceBody, answer: screens.ChangedSource },
  'DELETE /internal/sources/:source_instance_id': {},
  'GET /internal/source-types': { answer: z.array(screens.SourceType) },

  'GET /internal/records': { query: screens.RecordsQuery, answer: screens.RecordPage },
  'GET /internal/records/:entity_id': { answer: screens.RecordDetail },
  'GET /internal/record-fields': {
    query: segmentForms.RecordFieldsQuery,
    answer: z.array(segmentForms.RecordField),
  },
  'GET /records/observe/segments': { answer: SegmentPage.shape.data },
  'POST /internal/segments': { body: segmentForms.CreateSegmentBody, answer: SegmentSummary },
  'POST /internal/segments/preview': {
    body: segmentForms.PreviewSegmentBody,
    answer: segmentForms.SegmentPreview,
  },
  'PATCH /internal/segments/:segment_id': { body: segmentForms.UpdateSegmentBody, answer: SegmentSummary },
  'DELETE /internal/segments/:segment_id': {},
  'GET /internal/segments/:segment_id/members': {
    query: screens.SegmentMembersQuery,
    answer: screens.SegmentMembers,
  },
  'POST /records/segments/:segment_id/sync': { body: syncs.SyncSegmentBody, answer: syncs.SyncedSegment },
  'GET /records/syncs': { answer: z.array(syncs.SegmentSync) },
  'DELETE /records/syncs/:sync_id': { answer: syncs.SegmentSync },
  'POST /records/syncs/:sync_id/resume': { answer: syncs.SegmentSync },
  'POST /records/syncs/:sync_id/confirm': { body: syncs.ConfirmBody, answer: syncs.SegmentSync },
  'POST /records/syncs/:sync_id/destinations/:connection_id/pause': { answer: syncs.SegmentSync },
  'POST /records/syncs/:sync_id/destinations/:connection_id/resume': {
    body: syncs.ResumeDestinationBody,
    answer: syncs.SegmentSync,
  },

  'GET /internal/sign-in': { answer: sessions.SignInWays },
  'POST /internal/sign-in/links': { body: sessions.SignInMailBody },
  'GET /internal/sign-in/organisations': { answer: sessions.SignInChoices },
  'POST /internal/sign-in/organisations': { body: sessions.ChooseBody, answer: sessions.SignedIn },
  'GET /internal/sign-in/:token': { answer: sessions.SignInLink },
  'POST /internal/sign-in/:token': { body: sessions.SignInBody, answer: sessions.SignedIn },
  'GET /internal/invitations/:token': { answer: sheetSettings.InvitationPage },
  'POST /internal/invitations/:token': { body: sheetSettings.AcceptBody, answer: sessions.SignedIn },
  'GET /internal/session': { answer: sessions.Session },
  'GET /internal/organisations': { answer: sessions.OwnOrganisations },
  'POST /internal/session/organisation': { body: sessions.ChooseBody, answer: sessions.SignedIn },
  'POST /internal/sign-out': {},
  'GET /internal/sessions': { answer: z.array(sessions.ListedSession) },
  'DELETE /internal/sessions': {},
  'DELETE /internal/sessions/:session_id': {},

  'GET /internal/members': { answer: settings.Roster },
  'POST /internal/members': { body: settings.InviteBody, answer: Invitation },
  'PATCH /internal/members/:email': { body: settings.RoleBody, answer: settings.ListedMember },
  'GET /internal/members/:email/impact': { answer: settings.RemovalImpact },
  'DELETE /internal/members/:email': { answer: RemovedMember },
  'GET /internal/keys': { answer: z.array(settings.ListedKey) },
  'POST /internal/keys': { body: settings.NewKeyBody, answer: settings.IssuedKey },
  'POST /internal/keys/:key_id/rotate': { body: settings.RotateKeyBody, answer: settings.RotatedKey },
  'DELETE /internal/keys/:key_id': {},
  'GET /internal/providers': { answer: z.array(settings.ConnectableProvider) },
  'GET /internal/connections': { answer: z.array(settings.Connection) },
  'POST /internal/connections': { body: settings.NewConnectionBody },
  'POST /internal/connections/:connection_id/test': { answer: settings.ConnectionTest },
  'DELETE /internal/connections/:connection_id': {},
  'GET /internal/environment': { answer: z.array(settings.Variable) },
  'PUT /internal/environment': { body: settings.SetVariableBody },
  'DELETE /internal/environment/:key': { query: settings.VariableQuery },
  'GET /internal/audit': { query: settings.AuditQuery, answer: settings.AuditPage },
  'GET /internal/health': { answer: settings.Health },
} satisfies Record<string, Schemas>

/**
 * The endpoints of one sheet. `/rows` stands for `/workflows/:workflow_id/sheets/:sheet_id/rows`, and `/internal/rows`
 * for the same path below `/internal`.
 */
export const SHEET_ENDPOINTS = {
  'PATCH /name': { body: workflows.NameBody, answer: sheets.NamedSheet },

  'GET /inputs': { answer: z.array(Input) },
  'POST /inputs': { body: CreateInputsBody, answer: z.array(Input) },
  'PATCH /inputs/:field_name': { body: ChangeInputBody, answer: ChangedInput },
  'POST /inputs/:field_name/duplicate': { body: DuplicateInputBody, answer: Input },
  'DELETE /inputs/:field_name': { answer: z.array(Input) },
  'POST /actions/add': { body: actions.AddActionBody, answer: actions.AddedAction },
  'GET /actions/suggestions': { answer: z.array(actions.Suggestion) },
  'GET /actions/graph': { answer: z.array(actions.GraphNode) },
  'GET /actions/:action_instance_id': { answer: actions.ActionDetail },
  'PATCH /actions/:action_instance_id': {
    body: actions.ConfigureActionBody,
    answer: actions.ConfiguredAction,
  },
  'DELETE /actions/:action_instance_id': { answer: actions.DeletedAction },
  'PATCH /actions/:action_instance_id/move': { body: actions.MoveActionBody, answer: actions.MovedAction },
  'PATCH /actions/:action_instance_id/name': { body: workflows.NameBody, answer: actions.NamedAction },
  'POST /actions/:action_instance_id/options/:field_name': {
    body: actions.FieldOptionsBody,
    answer: actions.FieldOptions,
  },
  'GET /actions/:action_instance_id/waterfall/:field_name': { query: WaterfallQuery, answer: Waterfall },
  'POST /actions/test': { body: TestNewActionBody, answer: CellTest, dryRun: TestEstimate },
  'GET /tests/:test_id': { answer: CellTest },
  'POST /actions/:action_instance_id/test': { body: TestActionBody, answer: CellTest, dryRun: TestEstimate },
  'GET /actions/:action_instance_id/test/:test_id': { answer: CellTest },
  'POST /actions/:action_instance_id/test/:test_id/keep': { answer: runs.CellDetail },
  'POST /conditions/check': { body: CheckConditionsBody, answer: CheckedConditions },
  'POST /internal/templates/:action_id/options/:field_name': {
    body: actions.FieldOptionsBody,
    answer: actions.FieldOptions,
  },
  'GET /internal/templates/:action_id/waterfall/:field_name': { query: WaterfallQuery, answer: Waterfall },
  'GET /internal/definition': { answer: edits.RevisionView },
  'GET /internal/definition/steps': { answer: edits.DefinitionSteps },
  'POST /internal/definition/restore': { body: edits.RestoreDefinitionBody, answer: edits.RevisionView },

  'POST /rows': { body: rows.AddRowsBody, answer: rows.AddedRows, dryRun: Estimate },
  'POST /rows/list': { body: rows.ListRowsBody, answer: rows.RowPage },
  'POST /rows/delete': { body: DeleteRowsBody, answer: rows.DeletedRows },
  'POST /rows/delete-all': { body: DeleteAllBody, answer: rows.DeletedCount },
  'POST /rows/statistics': { body: RowStatisticsBody, answer: RowStatistics },
  'GET /rows/:row_id': { query: history.GetRowQuery, answer: history.RowDetail },
  'GET /rows/:row_id/history': { query: history.RowHistoryQuery, answer: history.RowHistory },
  'GET /comments': { query: comments.ListCommentsQuery, answer: comments.Comments },
  'POST /comments': { body: comments.AddCommentBody, answer: comments.Comment },
  'PATCH /comments/:comment_id': { body: comments.EditCommentBody, answer: comments.Comment },
  'DELETE /comments/:comment_id': { answer: comments.DeletedComment },
  'GET /rows/:row_id/cells/:action_instance_id': { answer: runs.CellDetail },
  'PATCH /internal/rows': { body: edits.EditRowsBody, answer: edits.EditedRows },
  'POST /internal/rows/delete': { body: edits.DeleteForNowBody, answer: edits.DeletedForNow },
  'POST /internal/rows/restore': { body: edits.DeleteForNowBody, answer: edits.RestoredRows },
  'POST /internal/rows/window': { body: edits.RowWindowBody, answer: rows.RowPage },
  'POST /internal/rows/place': { body: search.RowPlaceBody, answer: search.RowPlace },
  'POST /internal/rows/next-failed': { body: search.NextFailedBody, answer: search.NextFailed },
  'POST /internal/rows/find': { body: search.FindRowsBody, answer: search.FoundRows },
  'GET /internal/totals': { answer: edits.SheetTotals },
  'GET /internal/edits': { answer: edits.KeptEdits },
  'POST /internal/edits/:edit_id/undo': { answer: edits.TurnedEdit },
  'POST /internal/edits/:edit_id/redo': { answer: edits.TurnedEdit },

  'POST /run': { body: runs.RunRowsBody, answer: runs.Queued, dryRun: Estimate },
  'POST /run-all': { body: runs.RunAllBody, answer: runs.Queued, dryRun: Estimate },
  'POST /actions/:action_instance_id/run': {
    body: runs.RunActionBody,
    answer: runs.Queued,
    dryRun: Estimate,
  },
  'POST /stop': { answer: runs.Stopped },
  'POST /estimate': { body: EstimateBody, answer: Estimate },
  'GET /runs': { answer: z.array(runs.Run) },
  'POST /runs/:run_id/resume': { body: runs.ResumeRunBody, answer: runs.Queued, dryRun: Estimate },
  'GET /causes': { query: causes.CausesQuery, answer: causes.Causes },
  'POST /rows/:row_id/cells/:action_instance_id/restore': {
    body: runs.RestoreCellBody,
    answer: runs.CellDetail,
  },

  'POST /csv': { body: imports.ImportBody, answer: imports.StartedImport, dryRun: Estimate },
  'GET /csv': { answer: imports.ImportStatus },
  'GET /internal/import/rejects': { answer: screens.ImportRejects },
  'POST /export': { body: exports.ExportBody, answer: exports.Export },
  'GET /export/:export_id': { answer: exports.Export },

  'GET /views': { answer: z.array(views.View) },
  'POST /views': { body: views.CreateViewBody, answer: views.View },
  'PATCH /views/:view_id': { body: views.UpdateViewBody, answer: views.View },
  'DELETE /views/:view_id': { answer: views.DeletedView },

  'GET /internal/layout': { answer: SheetLayout.nullable() },
  'PUT /internal/layout': { body: SheetLayout, answer: SheetLayout.nullable() },
  'GET /internal/schedule': { answer: sheetSettings.SheetSchedule.nullable() },
  'PUT /internal/schedule': {
    body: sheetSettings.ScheduleBody,
    answer: sheetSettings.SheetSchedule.nullable(),
  },
  'DELETE /internal/schedule': { answer: sheetSettings.SheetSchedule.nullable() },
  'GET /internal/webhook': { answer: sheetSettings.SheetWebhook },
  'POST /internal/webhook': { body: sheetSettings.EnableWebhookBody, answer: sheetSettings.SheetWebhook },
  'DELETE /internal/webhook': { answer: sheetSettings.SheetWebhook },
} satisfies Record<string, Schemas>
