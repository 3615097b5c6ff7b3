-- question: Where does the wall time go, place by place?
-- row: one place, as in hotspot_table.md, with the place in the file that the number comes from
-- units: value and value_lo are shares of the resource, wall_share (lower bound) of the wall clock, 0 to 1; weight over whole is value
-- empty: nothing that was recorded has a place
SELECT h.rank AS rank, h.location AS location, h.metric AS metric, h.value AS value, h.value_lo AS value_lo, h.wall_share AS wall_share,
    h.resource AS resource, h.category AS category, h.weight AS weight, h.whole AS whole, a.path AS artifact_path, h.anchor AS anchor, h.detail AS detail
FROM hotspots AS h
JOIN artifacts AS a ON h.artifact_id = a.artifact_id
ORDER BY rank ASC NULLS LAST
