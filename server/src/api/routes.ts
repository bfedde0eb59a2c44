import { agentRoutes } from '../agent/routes/agent.ts'
import { exportFilePages } from '../files/routes/export-files.ts'
import { exportRoutes } from '../files/routes/exports.ts'
import { filePreviewRoutes } from '../files/routes/file-previews.ts'
import { importRejectRoutes } from '../files/routes/import-rejects.ts'
import { importRoutes } from '../files/routes/imports.ts'
import { uploadRoutes } from '../files/routes/uploads.ts'
import { createPriceBook } from '../money/prices.ts'
import { budgetRoutes } from '../money/routes/budgets.ts'
import { creditRoutes } from '../money/routes/credits.ts'
import { priceRoutes } from '../money/routes/prices.ts'
import { usageRoutes } from '../money/routes/usage.ts'
import { invitationPages } from '../organisation/routes/invitations.ts'
import { memberRoutes } from '../organisation/routes/members.ts'
import { connectionSettings } from '../organisation/routes/screens/connections.ts'
import { environmentSettings } from '../organisation/routes/screens/environment.ts'
import { invitationAcceptance } from '../organisation/routes/screens/invitations.ts'
import { keySettings } from '../organisation/routes/screens/keys.ts'
import { memberSettings } from '../organisation/routes/screens/members.ts'
import { organisationSettings } from '../organisation/routes/screens/organisation.ts'
import { sessionRoutes } from '../organisation/routes/screens/sessions.ts'
import { signInChoices } from '../organisation/routes/screens/sign-in-choices.ts'
import { signInRoutes } from '../organisation/routes/screens/sign-in.ts'
import { userRoutes } from '../organisation/routes/user.ts'
import { recordRoutes } from '../records/routes/screens/records.ts'
import { segmentSettings } from '../records/routes/screens/segments.ts'
import { segmentConnectionRoutes } from '../records/routes/segment-connections.ts'
import { segmentSyncRoutes } from '../records/routes/segment-syncs.ts'
import { segmentRoutes } from '../records/routes/segments.ts'
import { causeRoutes } from '../runs/routes/causes.ts'
import { cellTestRoutes } from '../runs/routes/cell-tests.ts'
import { conditionCheckRoutes } from '../runs/routes/condition-checks.ts'
import { estimateRoutes } from '../runs/routes/estimates.ts'
import { runRoutes } from '../runs/routes/runs.ts'
import { webhookDeliveryRoutes } from '../runs/webhooks/routes/webhook-deliveries.ts'
import { webhookReceiverRoutes } from '../runs/webhooks/routes/webhook-receiver.ts'
import { actionLayoutRoutes } from '../sheets/routes/actions/action-layout.ts'
import { actionRoutes } from '../sheets/routes/actions/actions.ts'
import { catalogueRoutes } from '../sheets/routes/actions/catalogue.ts'
import { suggestionRoutes } from '../sheets/routes/actions/suggestions.ts'
import { waterfallRoutes } from '../sheets/routes/actions/waterfalls.ts'
import { cellRoutes } from '../sheets/routes/rows/cells.ts'
import { changeRoutes } from '../sheets/routes/rows/changes.ts'
import { commentRoutes } from '../sheets/routes/rows/comments.ts'
import { rowDetailRoutes } from '../sheets/routes/rows/row-details.ts'
import { rowGroupRoutes } from '../sheets/routes/rows/row-groups.ts'
import { rowStatisticsRoutes } from '../sheets/routes/rows/row-statistics.ts'
import { rowRoutes } from '../sheets/routes/rows/rows.ts'
import { definitionRestoreRoutes } from '../sheets/routes/screens/definition-restores.ts'
import { fieldOptionRoutes } from '../sheets/routes/screens/field-options.ts'
import { editHistoryRoutes, rowEditRoutes } from '../sheets/routes/screens/row-edits.ts'
import { rowSearchRoutes } from '../sheets/routes/screens/row-search.ts'
import { sheetLayouts } from '../sheets/routes/screens/sheet-layouts.ts'
import { sheetViewRoutes } from '../sheets/routes/screens/sheet-views.ts'
import { workflowListRoutes } from '../sheets/routes/screens/workflow-list.ts'
import { workflowSettings } from '../sheets/routes/screens/workflow-settings.ts'
import { viewRoutes } from '../sheets/routes/views/views.ts'
import { definitionRoutes } from '../sheets/routes/workflows/definitions.ts'
import { inputChangeRoutes } from '../sheets/routes/workflows/input-changes.ts'
import { inputRoutes } from '../sheets/routes/workflows/inputs.ts'
import { sheetRoutes } from '../sheets/routes/workflows/sheets.ts'
import { workflowRoutes } from '../sheets/routes/workflows/workflows.ts'
import { shortcutVersionRoutes } from '../shortcuts/routes/screens/shortcut-versions.ts'
import { shortcutSettings } from '../shortcuts/routes/screens/shortcuts.ts'
import { shortcutRoutes } from '../shortcuts/routes/shortcuts.ts'
import { pixelRoutes } from '../sources/routes/pixel.ts'
import { sourceInstanceRoutes } from '../sources/routes/source-instances.ts'
import { sourceSettings } from '../sources/routes/source-settings.ts'
import { sourceTypeRoutes } from '../sources/routes/source-types.ts'
import { sourceRoutes } from '../sources/routes/sources.ts'
import { dashboardRoutes } from './dashboard/dashboard.ts'
import { singleSignOn } from './dashboard/single-sign-on.ts'
import { healthRoutes } from './health.ts'
import { createEventStreams, type RouteServices } from './http/event-streams.ts'
import { API_PREFIX, openApiRoutes } from './http/openapi.ts'
import { INTERNAL_PREFIX } from './http/sessions.ts'
import type { Api, Services } from './services.ts'

type Routes = (api: Api, services: RouteServices) => void

/**
 * The routes of the API, below its prefix. An endpoint consists of a contract, a route, store functions, a
 * test, and a line here.
 */
const API_ROUTES: Routes[] = [
  openApiRoutes,
  userRoutes,
  memberRoutes,
  creditRoutes,
  priceRoutes,
  usageRoutes,
  budgetRoutes,
  workflowRoutes,
  definitionRoutes,
  sheetRoutes,
  inputRoutes,
  inputChangeRoutes,
  catalogueRoutes,
  actionRoutes,
  suggestionRoutes,
  actionLayoutRoutes,
  waterfallRoutes,
  cellTestRoutes,
  conditionCheckRoutes,
  viewRoutes,
  rowRoutes,
  rowGroupRoutes,
  rowStatisticsRoutes,
  rowDetailRoutes,
  commentRoutes,
  cellRoutes,
  runRoutes,
  causeRoutes,
  estimateRoutes,
  changeRoutes,
  uploadRoutes,
  importRoutes,
  exportRoutes,
  shortcutRoutes,
  agentRoutes,
  sourceRoutes,
  sourceInstanceRoutes,
  webhookDeliveryRoutes,
  segmentRoutes,
  segmentConnectionRoutes,
  segmentSyncRoutes,
]

/** The routes for sessions of the dashboard, below `/internal`, that the public API does not offer. */
const INTERNAL_ROUTES: Routes[] = [
  signInRoutes,
  signInChoices,
  sessionRoutes,
  rowEditRoutes,
  editHistoryRoutes,
  definitionRestoreRoutes,
  fieldOptionRoutes,
  sheetViewRoutes,
  rowSearchRoutes,
  invitationAcceptance,
  memberSettings,
  keySettings,
  connectionSettings,
  environmentSettings,
  organisationSettings,
  workflowListRoutes,
  workflowSettings,
  shortcutSettings,
  shortcutVersionRoutes,
  sheetLayouts,
  filePreviewRoutes,
  importRejectRoutes,
  recordRoutes,
  segmentSettings,
  sourceTypeRoutes,
  sourceSettings,
]

/** The routes without a key: the dashboard's own files, and pages with a token in their link. */
const LINKED_ROUTES: Routes[] = [
  dashboardRoutes,
  singleSignOn,
  invitationPages,
  exportFilePages,
  webhookReceiverRoutes,
  pixelRoutes,
]

export async function registerRoutes(app: Api, given: Services): Promise<void> {
  const services = {
    ...given,
    streams: createEventStreams(app, given),
    prices: createPriceBook(given.catalogue),
  }
  // The health routes are on the app itself, because they measure the requests of all others too.
  healthRoutes(app, services)
  // Each gets its own scope: some add hooks and parsers that must not apply to other routes.
  for (const routes of LINKED_ROUTES) await app.register(async (scope: Api) => routes(scope, services))
  await app.register(
    async (api: Api) => {
      for (const routes of API_ROUTES) routes(api, services)
    },
    { prefix: API_PREFIX },
  )
  await app.register(
    async (internal: Api) => {
      for (const routes of INTERNAL_ROUTES) routes(internal, services)
    },
    { prefix: INTERNAL_PREFIX },
  )
}
