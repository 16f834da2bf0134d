// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <rafter/schedule/cell_dofs.hpp>

namespace rafter::schedule {

/// Work arrays of one field on its way to or from the points. An array is used again as soon as nothing needs its
/// contents: a line, column or layer is read before results overwrite it.
struct FieldStages {
  int components = 1;
  int nodes = 0; ///< dofs per direction
  bool interpolates = false;
  /// Array of the dofs as gathered or to be scattered, cells in lanes; it is `values` or an array of its own.
  std::string dofs;
  std::optional<CellDofs> cell_dofs; ///< dofs where points, not cells, stand in the lanes
  std::string partial; ///< array that is interpolated along all axes but the last, (component, last-axis dof, points of
                       ///< the other axes); it is `last`, or `values` where there is no `last`
  std::string values;  ///< values in the points, (component, point)
  std::string last;    ///< derivative along the last axis, (component, point)
  std::string middle;  ///< 3D: derivative along axis 1 on one layer, (component, point of the layer)
  /// Derivative along axis 0 (and flux with the value) for one line or layer, (component, point).
  std::string line, line_value;
};

/// Work arrays of a collocated program whose steps are fused, the index of entries in them, and operations on lines of
/// them.
class FusedArrays {
public:
  FusedArrays(Context& program_context, bool points_in_lanes);

  Context& context;
  const kernel::TensorProgram& program;
  const int dim, q, vector_width; ///< `q`: points per direction
  const int last_axis;
  const bool has_point_lanes;
  const int line;    ///< entries of a line along axis 0: points, or vectors of points
  const int columns; ///< entries of a layer, which is what lies at one point of the last axis
  const int slab;    ///< entries for which derivatives along axis 0 are computed at a time: a line or a layer
  const int layer;   ///< distance between layers of the last axis
  const int volume;  ///< entries per component
  std::vector<FieldStages> inputs, outputs; ///< fields of the program in order; `inputs` ends with the geometry nodes

  const kernel::ReferenceMatrix& matrix(int i) const { return program.matrices[static_cast<std::size_t>(i)]; }
  int rows_of(const FieldStages& s) const { return dim == 3 ? s.nodes : 1; } ///< lines of dofs along axis 0 in a layer

  /// The places of dofs for gather and scatter. They are dense in an array of their own; otherwise each layer of dofs
  /// begins at the place of its layer of points, and where nodes are points every dof stands at its point.
  Placement placement(const FieldStages& s) const;
  /// Number of a line of dofs along axis 0, over all components.
  NodePtr line_number(const FieldStages& s, const NodePtr& component, const NodePtr& k, const NodePtr& row) const;
  /// First entry of layer k of the last axis.
  NodePtr layer_of(const NodePtr& component, const NodePtr& k) const;
  // First entry, for one component, of what the loops over q2 and q1 are at: a layer and a line in arrays of all
  // points, a line in the array `line`.
  NodePtr layer_base(const NodePtr& component) const;
  NodePtr line_base(const NodePtr& component) const;
  NodePtr slab_base(const NodePtr& component) const;

  /// Multiplies a line along axis 1 or 2 by a matrix, from one array to another.
  void map_line(const kernel::ReferenceMatrix& m, const std::string& source, const NodePtr& source_base,
                const std::string& target, const NodePtr& target_base, Statements& to, bool adds = false) const;
  // The points of a line along axis 0 are entries, or lanes of entries; dofs are always entries.
  std::vector<NodePtr> load_first(const std::string& array, const NodePtr& base, int count, Statements& to) const;
  std::vector<NodePtr> apply_first(const kernel::ReferenceMatrix& m, const std::vector<NodePtr>& line,
                                   Statements& to) const;
  // Move dofs that are the values in the points from and to arrays with points in lanes.
  void dofs_to_values(const FieldStages& s, Statements& to) const;
  void values_to_dofs(const FieldStages& s, Statements& to) const;
  /// Work array of one layer, interpolated along axis 0 and not yet along axis 1.
  std::string work_plane() const;

private:
  FieldStages declare(const std::string& name, int components, int nodes, bool interpolates,
                      const std::array<int, 3>& derivatives, bool is_output, bool has_value) const;
  void declare_inputs();
  void declare_outputs();
  void
  each_dof_line(const FieldStages& s, Statements& to,
                const std::function<void(const NodePtr& number, const NodePtr& values, Statements& body)>& move) const;
};

/// A loop in which variable `name` goes from 0 to count - 1.
NodePtr for_each(const std::string& name, int count, Statements body);

} // namespace rafter::schedule
