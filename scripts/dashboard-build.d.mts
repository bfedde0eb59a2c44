export function isDashboardBuilt(root: string): boolean
export function buildDashboard(root: string): Promise<string | null>
