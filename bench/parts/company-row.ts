export const COMPANY_COLUMNS = ['company', 'domain', 'industry', 'employees', 'note']

/** Returns row `n` of a sheet of companies: short texts of the usual lengths. */
export function companyRow(n: number): Record<string, string> {
  return {
    company: `Company ${n}`,
    domain: `company-${n}.example.com`,
    industry: ['software', 'retail', 'energy', 'health'][n % 4] ?? '',
    employees: String((n * 7919) % 10_000),
    note: `A line of text about row ${n} that is as long as such lines are`,
  }
}
