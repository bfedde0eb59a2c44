import { defineAdapter, hit } from '../../provider/adapter.ts'
import { company } from '../../questions/company.ts'
import { type CompanyRecord, lookUpCompany, yearOf } from './company-record.ts'
import { crustdata } from './provider.ts'

export const crustdataCompany = defineAdapter(company, crustdata, {
  price: 2,
  run: (ask, question) =>
    lookUpCompany(ask, question, (record) =>
      hit({
        name: record.company_name,
        description: record.linkedin_company_description ?? null,
        industry: record.taxonomy?.linkedin_industries?.[0] ?? null,
        employees: record.headcount?.linkedin_headcount ?? null,
        revenue_range: revenueOf(record),
        founded: yearOf(record),
        hq: record.headquarters ?? null,
        ticker: record.stock_symbols?.[0] ?? null,
        linkedin_url: record.linkedin_profile_url ?? null,
      }),
    ),
})

function revenueOf(record: CompanyRecord): string | null {
  const bounds = [record.estimated_revenue_lower_bound_usd, record.estimated_revenue_higher_bound_usd]
  const known = bounds.filter((bound) => typeof bound === 'number')
  return known.length === 0 ? null : known.map((bound) => `$${bound.toLocaleString('en')}`).join(' - ')
}
