-- question: Which explanations survived, and which of them are worth acting on?
-- row: one hypothesis
-- units: shares 0 to 1 (lower bounds): charged_share of its resource, wall_share of the wall clock; impact, confidence, effort 1 to 5;
--   opportunity = impact x confidence / effort, handed off from 2.0
-- empty: never: every hypothesis of the catalogue has a row
SELECT hypothesis AS hypothesis, name AS name, label AS label, supports AS supports, rejects AS rejects, not_measured AS not_measured, site AS site,
    suspected_site AS suspected_site, explained_by AS explained_by, resource AS resource, charged_share AS charged_share, wall_share AS wall_share,
    impact AS impact, confidence AS confidence, effort AS effort, opportunity AS opportunity, handed_off AS handed_off, note AS note
FROM hypotheses
ORDER BY handed_off DESC NULLS LAST, supports DESC NULLS LAST, rejects ASC NULLS LAST, hypothesis ASC NULLS LAST
