create table t(id integer primary key, k integer, v text);
with recursive c(i) as (select 1 union all select i+1 from c where i < 150000) insert into t select i, i*7919%10007, 'v'||(i*31%977) from c;
create index ti on t(k);
select count(*), sum(length(v)) from (select k, max(v) v from t group by k order by 2 desc, 1);
select count(*) from t a join t b on a.k = b.k where a.v < b.v;
update t set v = v || k where id % 3 = 0; delete from t where k % 5 = 0; select v, count(*) from t where v like 'v4%' group by v order by 2 desc, 1 limit 5;
