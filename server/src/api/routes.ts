import { createPriceBook } from '../org/prices.ts'
import { dashboardRoutes } from './dashboard/dashboard.ts'
import { singleSignOn } from './dashboard/single-sign-on.ts'
import { createEventStreams, type RouteServices } from './http/event-streams.ts'
import { API_PREFIX, openApiRoutes } from './http/openapi.ts'
import { INTERNAL_PREFIX } from './http/sessions.ts'
import { connectionSettings } from './internal/connections.ts'
import { definitionRestoreRoutes } from './internal/definition-restores.ts'
import { environmentSettings } from './internal/environment.ts'
import { filePreviewRoutes } from './internal/file-previews.ts'
import { importRejectRoutes } from './internal/import-rejects.ts'
import { invitationAcceptance } from './internal/invitations.ts'
import { keySettings } from './internal/keys.ts'
import { memberSettings } from './internal/members.ts'
import { organisationSettings } from './internal/organisation.ts'
import { recordRoutes } from './internal/records.ts'
import { editHistoryRoutes, rowEditRoutes } from './internal/row-edits.ts'
import { rowSearchRoutes } from './internal/row-search.ts'
import { runFailureRoutes } from './internal/run-failures.ts'
import { segmentSettings } from './internal/segments.ts'
import { sessionRoutes } from './internal/sessions.ts'
import { sheetLayouts } from './internal/sheet-layouts.ts'
import { sheetViewRoutes } from './internal/sheet-views.ts'
import { shortcutVersionRoutes } from './internal/shortcut-versions.ts'
import { shortcutSettings } from './internal/shortcuts.ts'
import { signInChoices } from './internal/sign-in-choices.ts'
import { signInRoutes } from './internal/sign-in.ts'
import { sourceTypeRoutes } from './internal/source-types.ts'
import { workflowListRoutes } from './internal/workflow-list.ts'
import { workflowSettings } from './internal/workflow-settings.ts'
import { actionLayoutRoutes } from './routes/actions/action-layout.ts'
import { actionRoutes } from './routes/actions/actions.ts'
import { catalogueRoutes } from './routes/actions/catalogue.ts'
import { agentRoutes } from './routes/agent/agent.ts'
import { budgetRoutes } from './routes/credits/budgets.ts'
import { creditRoutes } from './routes/credits/credits.ts'
import { priceRoutes } from './routes/credits/prices.ts'
import { usageRoutes } from './routes/credits/usage.ts'
import { exportFilePages } from './routes/files/export-files.ts'
import { exportRoutes } from './routes/files/exports.ts'
import { importRoutes } from './routes/files/imports.ts'
import { uploadRoutes } from './routes/files/uploads.ts'
import { healthRoutes } from './routes/health.ts'
import { invitationPages } from './routes/organisation/invitations.ts'
import { memberRoutes } from './routes/organisation/members.ts'
import { userRoutes } from './routes/organisation/user.ts'
import { segmentConnectionRoutes } from './routes/records/segment-connections.ts'
import { segmentSyncRoutes } from './routes/records/segment-syncs.ts'
import { segmentRoutes } from './routes/records/segments.ts'
import { cellRoutes } from './routes/rows/cells.ts'
import { changeRoutes } from './routes/rows/changes.ts'
import { rowRoutes } from './routes/rows/rows.ts'
import { estimateRoutes } from './routes/runs/estimates.ts'
import { runRoutes } from './routes/runs/runs.ts'
import { shortcutRoutes } from './routes/shortcuts/shortcuts.ts'
import { pixelRoutes } from './routes/sources/pixel.ts'
import { sourceInstanceRoutes } from './routes/sources/source-instances.ts'
import { sourceRoutes } from './routes/sources/sources.ts'
import { webhookDeliveryRoutes } from './routes/webhooks/webhook-deliveries.ts'
import { webhookReceiverRoutes } from './routes/webhooks/webhook-receiver.ts'
import { inputRoutes } from './routes/workflows/inputs.ts'
import { sheetRoutes } from './routes/workflows/sheets.ts'
import { workflowRoutes } from './routes/workflows/workflows.ts'
import type { Api, Services } from './services.ts'

type Routes = (api: Api, services: RouteServices) => void

/** The API, below its prefix. An endpoint is a contract, a route, store functions, a test, and a line here. */
const API_ROUTES: Routes[] = [
  openApiRoutes,
  userRoutes,
  memberRoutes,
  creditRoutes,
  priceRoutes,
  usageRoutes,
  budgetRoutes,
  workflowRoutes,
  sheetRoutes,
  inputRoutes,
  catalogueRoutes,
  actionRoutes,
  actionLayoutRoutes,
  rowRoutes,
  cellRoutes,
  runRoutes,
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

/** For sessions of the dashboard, below `/internal`: what the public API leaves out. */
const INTERNAL_ROUTES: Routes[] = [
  signInRoutes,
  signInChoices,
  sessionRoutes,
  rowEditRoutes,
  editHistoryRoutes,
  definitionRestoreRoutes,
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
  runFailureRoutes,
  sourceTypeRoutes,
]

/** What is reached without a key: the dashboard's own files, and by a link or a token in the path. */
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
  // On the app itself, because it measures the requests of all others too.
  healthRoutes(app, services)
  // Each in a scope of its own: some bring hooks and parsers that are for nobody else.
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
